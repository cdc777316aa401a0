/**
 * Everything that can be done in a workspace, declared once: name, input, output, effect, handler, and what each face
 * calls it. The methods of the daemon, the tools of the tool server and the verbs of the command line are three faces
 * of this table. Reading it loads no room of the domain; whoever performs an operation brings the rooms along.
 */
export {type BindingNames, bindingSchema, listedSchema, toInput} from './bindings.js'
export type {OperationBase, OperationContext, Question, Surface, WorkspaceModules} from './context.js'
export {
  type DaemonMethod,
  daemonMethods,
  daemonNotifications,
  daemonProtocol,
} from './daemon-methods.js'
export type {CliBinding, Effect, Lane, Operation, Renames, Tier, ToolBinding} from './operation.js'
export {type Call, commandCall, createCall} from './perform.js'
export type {Progress, SpeechPort, TranscribeRequest} from './speech-port.js'
export {operationNamed, operations} from './table.js'
export {DetailedError, ToolAnswer, toolAnswer} from './tool-answer.js'
