import type {GenerateRequest, Prompt} from '../llm/index.js'
import {definedEntries, type Fields} from './body.js'

type Variables = NonNullable<Extract<Prompt, {kind: 'chat'}>['variables']>

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

const levels = ['low', 'medium', 'high', 'max']

/** What a request states about thinking. */
export interface StatedThinking {
  enabled?: boolean | undefined
  effort?: string | undefined
  /** Maximum tokens. */
  budget?: number | undefined
  /** Of the chat template; they precede the others. */
  variables?: Variables | undefined
}

/** What a request demands of the thinking: the variables of the chat template, and the form of the reply. */
export interface RequestedThinking {
  /** Part of a prompt. */
  variables: {variables?: Variables}
  thinking: GenerateRequest['thinking']
  /** Whether a model that does not think must refuse the request. */
  isRequired: boolean
}

/** Templates that can omit thinking read `enable_thinking` or `thinking`; others ignore them. */
export function requestedThinking({
  enabled,
  effort,
  budget,
  variables,
}: StatedThinking): Omit<RequestedThinking, 'isRequired'> {
  const all = {
    ...(enabled === undefined ? {} : {enable_thinking: enabled, thinking: enabled}),
    ...(effort === undefined ? {} : {reasoning_effort: effort}),
    ...variables,
  }
  return {
    variables: Object.keys(all).length === 0 ? {} : {variables: all},
    thinking: enabled === undefined && budget === undefined ? undefined : definedEntries({enabled, budget}),
  }
}

/** Reads `think`, `reasoning_effort`, `chat_template_kwargs` and a budget. @throws bad_request */
export function readThinking(fields: Fields): RequestedThinking {
  const think = readThink(fields)
  const effort = readEffort(fields, 'reasoning_effort') ?? (typeof think === 'string' ? think : undefined)
  const enabled = think === undefined ? (effort === undefined ? undefined : effort !== 'none') : think !== false
  const variables = fields.object('chat_template_kwargs')?.json()
  const isRequired = (think ?? false) !== false
  return {...requestedThinking({enabled, effort, budget: readBudget(fields), variables}), isRequired}
}

/** True, false, or how much to think. */
function readThink(fields: Fields): boolean | string | undefined {
  const value = fields.get('think')
  if (value === undefined || typeof value === 'boolean') return value
  if (typeof value === 'string' && levels.includes(value)) return value
  throw fields.wrong('think', `be true, false, ${levels.join(', ')}`.replace(/, (?=\w+$)/, ' or '))
}

/** Maximum tokens of the thinking; the names of Anthropic, vLLM and llama.cpp. -1 is no maximum, as in llama.cpp. */
export function readBudget(fields: Fields): number | undefined {
  const names = ['thinking_budget_tokens', 'thinking_token_budget', 'reasoning_budget']
  const budgets = names.map((name) => fields.integer(name, {min: -1})).filter((budget) => budget !== undefined)
  return budgets[0] === -1 ? undefined : budgets[0]
}

/** How much to think. @throws bad_request */
export function readEffort(fields: Fields, name: string): string | undefined {
  const effort = fields.string(name)
  if (effort !== undefined && !efforts.includes(effort)) throw fields.wrong(name, `be one of ${efforts.join(', ')}`)
  return effort
}
