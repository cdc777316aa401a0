import type {GenerateRequest, Prompt} from '../llm/index.js'
import {definedEntries, type Fields} from './body.js'

type Variables = NonNullable<Extract<Prompt, {kind: 'chat'}>['variables']>

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

const levels = ['low', 'medium', 'high', 'max']

/** What a request demands of the thinking: the variables of the chat template, and the form of the reply. */
export interface RequestedThinking {
  /** Part of a prompt. */
  variables: {variables?: Variables}
  thinking: GenerateRequest['thinking']
}

/**
 * Reads `think` and `reasoning_effort`. Templates that can omit thinking read `enable_thinking` or `thinking`; others ignore
 * them. `chat_template_kwargs` precede the other fields.
 * @throws bad_request
 */
export function readThinking(fields: Fields): RequestedThinking {
  const think = readThink(fields)
  const effort = readEffort(fields) ?? (typeof think === 'string' ? think : undefined)
  const enabled = think === undefined ? (effort === undefined ? undefined : effort !== 'none') : think !== false
  const budget = readBudget(fields)
  const variables = {
    ...(enabled === undefined ? {} : {enable_thinking: enabled, thinking: enabled}),
    ...(effort === undefined ? {} : {reasoning_effort: effort}),
    ...fields.object('chat_template_kwargs')?.json(),
  }
  return {
    variables: Object.keys(variables).length === 0 ? {} : {variables},
    thinking: enabled === undefined && budget === undefined ? undefined : definedEntries({enabled, budget}),
  }
}

/** True, false, or how much to think. */
function readThink(fields: Fields): boolean | string | undefined {
  const value = fields.get('think')
  if (value === undefined || typeof value === 'boolean') return value
  if (typeof value === 'string' && levels.includes(value)) return value
  throw fields.wrong('think', `be true, false, ${levels.join(', ')}`.replace(/, (?=\w+$)/, ' or '))
}

/** Maximum tokens of the thinking; the names of Anthropic, vLLM and llama.cpp. -1 is no maximum, as in llama.cpp. */
function readBudget(fields: Fields): number | undefined {
  const names = ['thinking_budget_tokens', 'thinking_token_budget', 'reasoning_budget']
  const budgets = names.map((name) => fields.integer(name, {min: -1})).filter((budget) => budget !== undefined)
  return budgets[0] === -1 ? undefined : budgets[0]
}

function readEffort(fields: Fields): string | undefined {
  const effort = fields.string('reasoning_effort')
  if (effort !== undefined && !efforts.includes(effort))
    throw fields.wrong('reasoning_effort', `be one of ${efforts.join(', ')}`)
  return effort
}
