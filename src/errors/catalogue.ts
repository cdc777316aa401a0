import {assistantErrors} from './rows/assistant.js'
import {audioErrors} from './rows/audio.js'
import {benchErrors} from './rows/bench.js'
import {commandErrors} from './rows/command.js'
import {configErrors} from './rows/config.js'
import {daemonErrors} from './rows/daemon.js'
import {grammarErrors} from './rows/grammar.js'
import {hubErrors} from './rows/hub.js'
import {journeyErrors} from './rows/journey.js'
import {langErrors} from './rows/lang.js'
import {launchErrors} from './rows/launch.js'
import {mcpErrors} from './rows/mcp.js'
import {meshErrors} from './rows/mesh.js'
import {messageErrors} from './rows/message.js'
import {modelErrors} from './rows/model.js'
import {networkErrors} from './rows/network.js'
import {operationErrors} from './rows/operation.js'
import {orchestratorErrors} from './rows/orchestrator.js'
import {planErrors} from './rows/plan.js'
import {processorErrors} from './rows/processor.js'
import {schemaErrors} from './rows/schema.js'
import {sessionErrors} from './rows/session.js'
import {speechErrors} from './rows/speech.js'
import {storeErrors} from './rows/store.js'
import {workflowErrors} from './rows/workflow.js'

export {type ErrorRow, Exit, type ExitStatus} from './row.js'

/** The rows of each module, by its name. */
const groups = {
  command: commandErrors,
  config: configErrors,
  model: modelErrors,
  hub: hubErrors,
  launch: launchErrors,
  grammar: grammarErrors,
  audio: audioErrors,
  speech: speechErrors,
  lang: langErrors,
  orchestrator: orchestratorErrors,
  processor: processorErrors,
  plan: planErrors,
  workflow: workflowErrors,
  message: messageErrors,
  mesh: meshErrors,
  journey: journeyErrors,
  assistant: assistantErrors,
  operation: operationErrors,
  daemon: daemonErrors,
  mcp: mcpErrors,
  schema: schemaErrors,
  session: sessionErrors,
  network: networkErrors,
  store: storeErrors,
  bench: benchErrors,
}

type Intersection<U> = (U extends unknown ? (member: U) => void : never) extends (member: infer I) => void ? I : never
type Catalogue = Intersection<ReturnType<(typeof groups)[keyof typeof groups]>>
let catalogue: Catalogue | undefined

/** Every error a user can meet, by code. Codes are a public interface: they are added, never renamed. */
export function errorCatalogue(): Catalogue {
  catalogue ??= Object.assign({}, ...Object.values(groups).map((declare) => declare())) as Catalogue
  return catalogue
}

/** The codes of each module, by its name. */
export const errorGroups = (): (readonly [group: string, codes: string[]])[] =>
  Object.entries(groups).map(([group, declare]) => [group, Object.keys(declare())])

export type ErrorCode = keyof Catalogue

/** Parameters of the message of an error. */
export type ErrorParams<C extends ErrorCode> = Parameters<Catalogue[C]['message']>[0]
