/**
 * The operations of a workspace, each declared once: name, input, output, effect, handler and bindings. The methods of
 * the daemon, the tools of the MCP server and the commands are three bindings of this table. Importing it loads no domain
 * module; the caller of an operation passes the modules in.
 */
export {type BindingNames, bindingSchema, listedSchema, toInput} from './bindings.js'
export {isConfirmed} from './confirmation.js'
export type {
  CallHooks,
  OperationBase,
  OperationContext,
  Progress,
  Question,
  SpeechPort,
  Surface,
  WorkspaceModules,
} from './context.js'
export {
  type DaemonMethod,
  type DaemonNotification,
  daemonMethods,
  daemonNotifications,
  daemonProtocol,
} from './daemon-methods.js'
export {EventWatch, unlessBusy} from './event-watch.js'
export {type OpenQuestion, openQuestionOf} from './open-question.js'
export type {CliBinding, Effect, Lane, Operation, Renames, Tier, ToolBinding} from './operation.js'
export {type Call, commandCall, createCall, performNamed} from './perform.js'
export {runStates} from './rows/workflows.js'
export type {
  GeneratedCode,
  ListenRequest,
  SpeechToCode,
  SpokenCode,
  SpokenText,
  TranscribeRequest,
} from './speech-requests.js'
export {type Submitted, submitGoal} from './submit-goal.js'
export {operationNamed, operations} from './table.js'
export {DetailedError, ToolAnswer, toolAnswer} from './tool-answer.js'

/** Loads the client of a running `svc db serve`. */
export const loadAppDatabase = () => import('./app-database.js')

/** Loads the guides as skills, from the files of the package. */
export const loadSkills = () => import('./skills.js')
