import {SvcError} from '../errors/index.js'
import type {GenerateRequest, Ability as ModelAbility} from '../llm/index.js'
import type {ServedModel} from './served-model.js'

/** What a request may need of a model. */
export type Ability = Exclude<ModelAbility, 'chat'>

/**
 * The abilities that a request needs, if any.
 * @param thinks whether the model must think. An effort or a budget is ignored by a model that does not.
 */
export function abilitiesFor(
  {prompt, tools}: Pick<GenerateRequest, 'prompt' | 'tools'>,
  {thinks = false} = {},
): {requires?: readonly Ability[]} {
  const requires: Ability[] = []
  if (tools !== undefined) requires.push('tools')
  if (thinks) requires.push('thinking')
  if (prompt.kind === 'insertion') requires.push('insert')
  return requires.length === 0 ? {} : {requires}
}

const fieldsByAbility: Readonly<Record<Ability, string>> = {tools: 'tools', thinking: 'think', insert: 'suffix'}

/** @throws bad_request with the sentence of Ollama */
export function requireAbilities({name, abilities}: ServedModel, required: readonly Ability[] = []): void {
  const lacking = required.find((ability) => !abilities[ability])
  if (lacking !== undefined)
    throw new SvcError('bad_request', {
      reason: `"${name}" does not support ${lacking}`,
      param: fieldsByAbility[lacking],
    })
}
