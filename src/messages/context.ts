import type {TaskContext} from '../tasks/index.js'
import type {MessageBus} from './bus.js'

export interface MessageContext extends TaskContext {
  /** Messages between the agents of this process. */
  readonly bus: MessageBus
}
