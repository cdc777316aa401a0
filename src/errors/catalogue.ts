import {audioErrors} from './rows/audio.js'
import {commandErrors} from './rows/command.js'
import {configErrors} from './rows/config.js'
import {hubErrors} from './rows/hub.js'
import {langErrors} from './rows/lang.js'
import {modelErrors} from './rows/model.js'
import {networkErrors} from './rows/network.js'
import {orchestratorErrors} from './rows/orchestrator.js'
import {processorErrors} from './rows/processor.js'
import {sessionErrors} from './rows/session.js'
import {speechErrors} from './rows/speech.js'
import {storeErrors} from './rows/store.js'

export {type ErrorRow, Exit, type ExitStatus} from './row.js'

/** Every error a user can meet, by code. Codes are part of the interface: they are added, never renamed. */
export const catalogue = {
  ...commandErrors,
  ...configErrors,
  ...modelErrors,
  ...hubErrors,
  ...audioErrors,
  ...speechErrors,
  ...langErrors,
  ...orchestratorErrors,
  ...processorErrors,
  ...sessionErrors,
  ...networkErrors,
  ...storeErrors,
}

export type ErrorCode = keyof typeof catalogue

/** What the sentence of an error needs to know. */
export type ErrorParams<C extends ErrorCode> = Parameters<(typeof catalogue)[C]['say']>[0]
