import {SvcError} from '../errors/index.js'
import type {ModelDescription} from './model-description.js'
import type {GenerateRequest, Prompt} from './request.js'

type Variables = NonNullable<Extract<Prompt, {kind: 'chat'}>['variables']>

/**
 * The parts of a request, and the variables of its prompt, that let a model think or not.
 * @param think undefined: as the chat template does
 * @throws thinking_unsupported if it must think, but cannot
 */
export function thinkingOf(
  {name, abilities}: Pick<ModelDescription, 'name' | 'abilities'>,
  think: boolean | undefined,
): Pick<GenerateRequest, 'thinking'> & {variables?: Variables} {
  if (think === undefined) return {}
  if (think && !abilities.thinking) throw new SvcError('thinking_unsupported', {model: name})
  return {thinking: {enabled: think}, variables: {enable_thinking: think, thinking: think}}
}
