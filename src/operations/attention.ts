import type {OperationContext} from './context.js'

/** A command is run by a person; the other bindings are used by agents. */
export const submitterOf = ({surface}: OperationContext): 'person' | 'agent' => (surface === 'cli' ? 'person' : 'agent')

/** Refuses new work of agents while the attention of the user is used up. @throws attention_exhausted */
export function requireAttention(context: OperationContext): void {
  if (submitterOf(context) === 'agent') context.modules.tasks.requireAttention(context.orchestrator)
}
