import type {GenerateRequest} from '../../llm/index.js'
import {abilitiesFor} from '../abilities.js'
import {definedEntries, Fields, stopBounds} from '../body.js'
import type {RequestDefaults} from '../defaults.js'
import type {DialectRequest} from '../dialect.js'
import {readKeepAlive} from '../keep-alive.js'
import {readFormat, type StatedFormat} from '../reply-format.js'
import {fieldsOf} from '../request-fields.js'
import {readSampling} from '../sampling-fields.js'
import {readBudget, readEffort, requestedThinking} from '../thinking.js'
import {toolUse} from '../tools.js'
import {readInput} from './input.js'
import {readTools} from './tools.js'

/** A request of `/v1/responses`. */
export interface ResponsesRequest extends DialectRequest {
  request: GenerateRequest
  /** Whether what the model thought is returned as a summary. */
  summarizes: boolean
  /** The settings that the response repeats. */
  settings: object
}

/**
 * Reads the body of `POST /v1/responses`.
 * @throws bad_request, unsupported_value, body_missing
 */
export function readResponsesRequest(body: unknown, defaults: RequestDefaults): ResponsesRequest {
  const fields = Fields.ofBody(body, fieldsOf('/v1/responses'))
  const reasoning = readReasoning(fields)
  const {effort} = reasoning
  const enabled = effort === undefined ? undefined : effort !== 'none'
  const {variables, thinking} = requestedThinking({
    enabled,
    effort,
    budget: readBudget(fields),
    variables: fields.object('chat_template_kwargs')?.json(),
  })
  const tools = readTools(fields)
  const truncation = fields.string('truncation') ?? 'disabled'
  if (truncation !== 'auto' && truncation !== 'disabled') throw fields.wrong('truncation', 'be auto or disabled')
  const overflow = truncation === 'auto' ? 'drop_oldest' : 'refuse'
  const request: GenerateRequest = {
    prompt: {kind: 'chat', messages: readInput(fields), overflow, ...variables},
    maxTokens: fields.integer('max_output_tokens', {min: 1}) ?? defaults.maxTokens,
    stop: fields.texts('stop', stopBounds) ?? defaults.stop,
    sampling: readSampling(fields, defaults),
    ...readFormat(fields, () => readTextFormat(fields)),
    ...definedEntries({topLogprobs: readTopLogprobs(fields), thinking, tools: toolUse(fields, tools)}),
  }
  return {
    ...definedEntries({model: fields.string('model') || undefined, keepAlive: readKeepAlive(fields)}),
    stream: fields.boolean('stream') ?? false,
    unknown: fields.unknown,
    ...(tools.skipped.length === 0 ? {} : {headers: {'x-svc-skipped-tools': tools.skipped.join(', ')}}),
    request,
    summarizes: reasoning.summary !== undefined,
    settings: settingsOf(fields, request, truncation),
    ...abilitiesFor(request),
  }
}

const summaries: readonly unknown[] = ['auto', 'concise', 'detailed']

function readReasoning(fields: Fields): {effort?: string | undefined; summary?: string | undefined} {
  const reasoning = fields.object('reasoning')
  if (reasoning === undefined) return {}
  const summary = reasoning.string('summary') ?? reasoning.string('generate_summary')
  if (summary === 'none') return {effort: readEffort(reasoning, 'effort')}
  if (summary !== undefined && !summaries.includes(summary))
    throw reasoning.wrong('summary', 'be auto, concise, detailed or none')
  return {effort: readEffort(reasoning, 'effort'), summary}
}

function readTextFormat(fields: Fields): StatedFormat | undefined {
  const format = fields.object('text')?.object('format')
  switch (format?.string('type') ?? 'text') {
    case 'text':
      return undefined
    case 'json_object':
      return ['text.format', {kind: 'json'}]
    case 'json_schema': {
      const schema = format?.schema('schema')
      if (schema === undefined) throw (format as Fields).wrong('schema', 'be present')
      return ['text.format.schema', {kind: 'schema', schema, strict: format?.boolean('strict') ?? false}]
    }
    default:
      throw (format as Fields).wrong('type', 'be text, json_object or json_schema')
  }
}

/** Log-probabilities are returned if they are included, or their number is stated. */
function readTopLogprobs(fields: Fields): number | undefined {
  const count = fields.integer('top_logprobs', {min: 0, max: 20}) ?? 0
  const isIncluded = fields.texts('include')?.includes('message.output_text.logprobs') === true
  return isIncluded || count > 0 ? count : undefined
}

/** Everything that the published schema of a response requires, with the values that apply. */
function settingsOf(fields: Fields, {sampling, topLogprobs}: GenerateRequest, truncation: string): object {
  const reasoning = fields.object('reasoning')
  const text = fields.object('text')
  const given = (name: string) => fields.string(name) ?? null
  return {
    instructions: given('instructions'),
    max_output_tokens: fields.get('max_output_tokens') ?? null,
    max_tool_calls: fields.get('max_tool_calls') ?? null,
    metadata: fields.object('metadata')?.json() ?? {},
    parallel_tool_calls: fields.boolean('parallel_tool_calls') ?? true,
    previous_response_id: null,
    prompt_cache_key: given('prompt_cache_key'),
    reasoning: {effort: reasoning?.get('effort') ?? null, summary: reasoning?.get('summary') ?? null},
    safety_identifier: given('safety_identifier'),
    service_tier: 'default',
    store: false,
    background: false,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    top_logprobs: topLogprobs ?? 0,
    text: {format: formatOf(text?.object('format'))},
    tool_choice: fields.get('tool_choice') ?? 'auto',
    tools: (fields.objects('tools') ?? []).filter((tool) => tool.get('type') === 'function').map(functionOf),
    truncation,
    user: given('user'),
  }
}

function formatOf(format: Fields | undefined): object {
  const type = format?.get('type') ?? 'text'
  if (format === undefined || type !== 'json_schema') return {type}
  const [name, description] = [format.string('name') ?? 'reply', format.string('description') ?? null]
  return {type, name, description, schema: format.get('schema'), strict: format.get('strict') ?? false}
}

const functionOf = (tool: Fields) => ({
  type: 'function',
  name: tool.get('name'),
  description: tool.get('description') ?? null,
  parameters: tool.get('parameters') ?? null,
  strict: tool.get('strict') ?? false,
})
