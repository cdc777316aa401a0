import {SvcError} from '../errors/index.js'
import type {GenerateRequest} from '../llm/index.js'
import type {Fields} from './body.js'
import type {ServedModel} from './served-model.js'

/** What not every model can do. */
export type Ability = 'tools' | 'thinking' | 'insert'

/** The abilities that a request needs, if any. An effort of thinking is ignored by a model that does not think. */
export function abilitiesFor(fields: Fields, {tools}: GenerateRequest): {requires?: readonly Ability[]} {
  const requires: Ability[] = []
  if (tools !== undefined) requires.push('tools')
  if ((fields.get('think') ?? false) !== false) requires.push('thinking')
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
