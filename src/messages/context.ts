import type {WorkspaceContext} from '../workspace/index.js'
import type {MessageBus} from './bus.js'

export interface MessageContext extends WorkspaceContext {
  /** Messages between the agents of this process. */
  readonly bus: MessageBus
}
