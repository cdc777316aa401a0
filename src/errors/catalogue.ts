import {assistantErrors} from './rows/assistant.js'
import {audioErrors} from './rows/audio.js'
import {benchErrors} from './rows/bench.js'
import {commandErrors} from './rows/command.js'
import {configErrors} from './rows/config.js'
import {daemonErrors} from './rows/daemon.js'
import {hubErrors} from './rows/hub.js'
import {journeyErrors} from './rows/journey.js'
import {langErrors} from './rows/lang.js'
import {mcpErrors} from './rows/mcp.js'
import {meshErrors} from './rows/mesh.js'
import {messageErrors} from './rows/message.js'
import {modelErrors} from './rows/model.js'
import {networkErrors} from './rows/network.js'
import {operationErrors} from './rows/operation.js'
import {orchestratorErrors} from './rows/orchestrator.js'
import {planErrors} from './rows/plan.js'
import {processorErrors} from './rows/processor.js'
import {sessionErrors} from './rows/session.js'
import {speechErrors} from './rows/speech.js'
import {storeErrors} from './rows/store.js'
import {workflowErrors} from './rows/workflow.js'

export {type ErrorRow, Exit, type ExitStatus} from './row.js'

const declare = () => ({
  ...commandErrors(),
  ...configErrors(),
  ...modelErrors(),
  ...hubErrors(),
  ...audioErrors(),
  ...speechErrors(),
  ...langErrors(),
  ...orchestratorErrors(),
  ...processorErrors(),
  ...planErrors(),
  ...workflowErrors(),
  ...messageErrors(),
  ...meshErrors(),
  ...journeyErrors(),
  ...assistantErrors(),
  ...operationErrors(),
  ...daemonErrors(),
  ...mcpErrors(),
  ...sessionErrors(),
  ...networkErrors(),
  ...storeErrors(),
  ...benchErrors(),
})

type Catalogue = ReturnType<typeof declare>
let catalogue: Catalogue | undefined

/** Every error a user can meet, by code. Codes are a public interface: they are added, never renamed. */
export function errorCatalogue(): Catalogue {
  catalogue ??= declare()
  return catalogue
}

export type ErrorCode = keyof Catalogue

/** Parameters of the message of an error. */
export type ErrorParams<C extends ErrorCode> = Parameters<Catalogue[C]['message']>[0]
