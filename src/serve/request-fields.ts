import {isDeepStrictEqual} from 'node:util'
import {SvcError} from '../errors/index.js'
import type {DeclaredFields, Fields} from './body.js'

/** The routes that generate text. */
export const routes = ['/api/generate', '/api/chat', '/v1/chat/completions', '/v1/completions'] as const
export type Route = (typeof routes)[number]

/** What the server does with a field of a request. A field that is null counts as absent. */
export type Outcome =
  /** The server reads it, and validates its value. */
  | {kind: 'works'}
  /** It cannot change the text of a reply, so any value, or any of this type, is accepted. */
  | {kind: 'ignored'; type?: 'boolean' | 'integer'}
  /** Only these values, which request nothing that the server lacks, are accepted. */
  | {
      kind: 'limited'
      values: readonly unknown[]
      /** What other values request; default: the field itself. */
      what?: string
      /** What to use instead. */
      use?: string
    }

export interface FieldRow {
  /** As in `options.stop`, `messages[].role`. */
  path: string
  routes: readonly Route[]
  outcome: Outcome
}

type Limits = Omit<Extract<Outcome, {kind: 'limited'}>, 'kind'>

const rowsOf = (routes: readonly Route[], outcome: Outcome, paths: string): FieldRow[] =>
  paths.split(' ').map((path) => ({path, routes, outcome}))
const works = (routes: readonly Route[], paths: string) => rowsOf(routes, {kind: 'works'}, paths)
const ignored = (routes: readonly Route[], paths: string, type?: 'boolean' | 'integer') =>
  rowsOf(routes, {kind: 'ignored', ...(type === undefined ? {} : {type})}, paths)
const limited = (
  routes: readonly Route[],
  paths: string,
  values: readonly unknown[],
  limits: Omit<Limits, 'values'> = {},
) => rowsOf(routes, {kind: 'limited', values, ...limits}, paths)
const refused = (routes: readonly Route[], paths: string, limits: Omit<Limits, 'values'> = {}) =>
  limited(routes, paths, [], limits)

const [generate, chat, chatCompletions, completions] = routes
const ollama = [generate, chat]
const openai = [chatCompletions, completions]
const withTemplate = [generate, chat, chatCompletions]
const chats = [chat, chatCompletions]

/**
 * Every field of the two APIs, and the common extensions of vLLM, llama.cpp and LM Studio. Requests are validated by this
 * table, and the readers of requests may only read fields in it. Fields that are not in the table are ignored.
 */
export const requestFields: readonly FieldRow[] = [
  ...works(routes, 'model stream keep_alive'),
  ...works(withTemplate, 'chat_template_kwargs'),
  ...refused(
    withTemplate,
    'chat_template_kwargs.messages chat_template_kwargs.tools chat_template_kwargs.documents ' +
      'chat_template_kwargs.add_generation_prompt chat_template_kwargs.chat_template',
  ),
  ...refused([completions], 'chat_template_kwargs', {use: chatCompletions}),

  // Prompts.
  ...works([generate], 'prompt system context raw'),
  ...refused([generate], 'messages', {use: 'prompt'}),
  ...works([chat], 'messages truncate'),
  ...works([chatCompletions], 'messages'),
  ...works([completions], 'prompt echo'),
  ...refused([completions], 'messages', {use: 'prompt'}),
  ...refused([chat, chatCompletions], 'prompt', {use: 'messages'}),
  ...limited([chat, chatCompletions, completions], 'system', [''], {use: 'a message with the role system'}),
  ...limited([chat, chatCompletions, completions], 'raw', [false]),
  ...limited([chat, chatCompletions, completions], 'context', [[]]),
  ...limited([chatCompletions], 'echo', [false]),
  ...works([generate, completions], 'suffix'),
  ...limited([chat], 'suffix', [''], {use: '/api/generate'}),
  ...limited([chatCompletions], 'suffix', [''], {use: '/v1/completions'}),
  ...limited(routes, 'template', [''], {what: 'custom templates'}),
  ...refused(routes, 'chat_template', {what: 'custom templates'}),
  ...limited(routes, 'images', [[]], {what: 'images'}),
  ...limited(routes, 'documents', [[]]),
  ...works([chatCompletions], 'add_generation_prompt continue_final_message'),
  ...limited([chatCompletions], 'add_special_tokens', [false]),
  ...limited([completions], 'add_special_tokens', [true]),
  ...refused(openai, 'truncate_prompt_tokens prompt_embeds'),
  ...ignored([generate], 'truncate', 'boolean'),

  // Messages.
  ...works([chat, chatCompletions], 'messages[].role messages[].content messages[].tool_calls messages[].tool_call_id'),
  ...works([chat, chatCompletions], 'messages[].name'),
  ...works([chat], 'messages[].thinking messages[].tool_name'),
  ...works([chatCompletions], 'messages[].reasoning_content messages[].reasoning'),
  ...works([chatCompletions], 'messages[].content[].type messages[].content[].text'),
  ...limited([chat, chatCompletions], 'messages[].images', [[]], {what: 'images'}),
  ...refused([chatCompletions], 'messages[].function_call', {use: 'tool_calls'}),
  ...refused([chatCompletions], 'messages[].audio'),
  ...refused([chatCompletions], 'messages[].content[].image_url', {what: 'images'}),
  ...refused([chatCompletions], 'messages[].content[].input_audio messages[].content[].file'),
  ...ignored([chatCompletions], 'messages[].refusal messages[].annotations messages[].content[].cache_control'),

  // Thinking.
  ...works(withTemplate, 'think reasoning_effort'),
  ...limited([completions], 'think', [false], {what: 'thinking'}),
  ...limited([completions], 'reasoning_effort', ['none'], {what: 'thinking'}),
  ...refused(openai, 'reasoning thinking', {use: 'reasoning_effort'}),
  ...refused(ollama, 'reasoning thinking', {use: 'think'}),
  ...refused(withTemplate, 'enable_thinking', {use: 'chat_template_kwargs.enable_thinking'}),
  ...works(chats, 'thinking_budget_tokens thinking_token_budget reasoning_budget'),
  ...refused([completions], 'thinking_budget_tokens thinking_token_budget reasoning_budget', {use: chatCompletions}),
  ...refused([generate], 'thinking_budget_tokens thinking_token_budget reasoning_budget', {use: chat}),
  ...limited(openai, 'include_reasoning', [true]),
  ...limited(openai, 'separate_reasoning thinking_forced_open', [false]),
  ...limited(openai, 'reasoning_format', ['none']),

  // Length and end.
  ...works([chatCompletions], 'max_tokens max_completion_tokens stop'),
  ...works([completions], 'max_tokens stop'),
  ...refused([completions], 'max_completion_tokens', {use: 'max_tokens'}),
  ...refused(openai, 'n_predict num_predict max_output_tokens', {use: 'max_tokens'}),
  ...refused(ollama, 'max_tokens max_completion_tokens n_predict num_predict max_output_tokens', {
    use: 'options.num_predict',
  }),
  ...refused(ollama, 'stop', {use: 'options.stop'}),
  ...refused(ollama, 'num_ctx', {use: 'options.num_ctx'}),
  ...refused(openai, 'num_ctx', {use: 'the flag --num-ctx of the server'}),
  ...limited(openai, 'options', [{}]),
  ...limited(openai, 'min_tokens', [0]),
  ...limited(openai, 'ignore_eos include_stop_str_in_output', [false]),
  ...limited(openai, 'stop_token_ids bad_words logits_processors', [[]]),
  ...limited(openai, 't_max_predict_ms', [0, -1]),

  // Sampling.
  ...works(openai, 'temperature top_p top_k min_p seed n presence_penalty frequency_penalty repetition_penalty'),
  ...works(openai, 'repeat_penalty repeat_last_n logit_bias'),
  ...works([completions], 'best_of'),
  ...limited([chatCompletions], 'best_of', [1]),
  ...[
    ...['temperature', 'top_p', 'top_k', 'min_p', 'seed', 'presence_penalty', 'frequency_penalty', 'repeat_penalty'],
    ...['repeat_last_n'],
  ].flatMap((name) => refused(ollama, name, {use: `options.${name}`})),
  ...refused(ollama, 'repetition_penalty', {use: 'options.repeat_penalty'}),
  ...refused(ollama, 'logit_bias'),
  ...limited(ollama, 'n', [1]),
  ...limited(openai, 'typical_p tfs_z length_penalty n_cmpl', [1]),
  ...limited(openai, 'mirostat xtc_probability dry_multiplier dynatemp_range top_a min_keep', [0]),
  ...limited(openai, 'top_n_sigma', [0, -1]),
  ...limited(openai, 'use_beam_search early_stopping', [false]),
  ...refused(openai, 'samplers allowed_token_ids'),
  ...ignored(openai, 'mirostat_tau mirostat_eta xtc_threshold dry_base dry_allowed_length dry_penalty_last_n'),
  ...ignored(openai, 'dry_sequence_breakers dynatemp_exponent'),

  // Structured output and tools.
  ...works(ollama, 'format'),
  ...limited(openai, 'format', [''], {use: 'response_format'}),
  ...works(openai, 'response_format response_format.type response_format.schema response_format.json_schema'),
  ...works(openai, 'response_format.json_schema.schema response_format.json_schema.strict'),
  ...ignored(openai, 'response_format.json_schema.name response_format.json_schema.description'),
  ...refused(ollama, 'response_format', {use: 'format'}),
  ...works(routes, 'guided_json guided_regex guided_choice guided_grammar structured_outputs json_schema grammar'),
  ...works(routes, 'structured_outputs.json structured_outputs.regex structured_outputs.choice'),
  ...works(routes, 'structured_outputs.grammar structured_outputs.json_object'),
  ...refused(routes, 'structured_outputs.structural_tag structured_outputs.whitespace_pattern'),
  ...refused(routes, 'guided_whitespace_pattern structural_tag'),
  ...ignored(routes, 'guided_decoding_backend'),
  ...works(chats, 'tools tools[].type tools[].function tools[].function.name tools[].function.description'),
  ...works(chats, 'tools[].function.parameters tools[].function.strict tool_choice parallel_tool_calls'),
  ...works(chats, 'tool_choice.type tool_choice.function tool_choice.function.name'),
  ...limited([generate], 'tools', [[]], {what: 'tools', use: chat}),
  ...limited([completions], 'tools', [[]], {what: 'tools', use: chatCompletions}),
  ...limited([generate, completions], 'tool_choice', ['none', 'auto'], {what: 'tools'}),
  ...refused(routes, 'functions', {use: 'tools'}),
  ...refused(routes, 'function_call', {use: 'tool_choice'}),
  ...ignored([generate, completions], 'parallel_tool_calls', 'boolean'),
  ...refused(openai, 'web_search_options'),
  ...limited(openai, 'modalities', [['text']], {what: 'other modalities'}),
  ...refused(openai, 'audio mm_processor_kwargs media_io_kwargs'),

  // Form of the response.
  ...works(routes, 'logprobs'),
  ...works([generate, chat, chatCompletions], 'top_logprobs'),
  ...refused([completions], 'top_logprobs', {use: 'logprobs'}),
  ...works(openai, 'stream_options stream_options.include_usage'),
  ...ignored(openai, 'stream_options.include_obfuscation'),
  ...limited(openai, 'stream_options.continuous_usage_stats', [false]),
  ...ignored(ollama, 'stream_options'),
  ...limited(openai, 'skip_special_tokens detokenize', [true]),
  ...ignored(openai, 'spaces_between_special_tokens', 'boolean'),
  ...limited(openai, 'return_tokens_as_token_ids return_token_ids return_tokens return_progress', [false]),
  ...limited(openai, 'timings_per_token post_sampling_probs', [false]),
  ...limited(openai, 'n_probs', [0]),
  ...refused(openai, 'prompt_logprobs response_fields'),

  // Operation of the server.
  ...ignored(ollama, 'shift', 'boolean'),
  ...ignored(routes, 'user metadata'),
  ...ignored(
    openai,
    'store service_tier safety_identifier prompt_cache_key prompt_cache_retention prediction verbosity',
  ),
  ...ignored(openai, 'priority request_id cache_salt cache_prompt id_slot n_keep n_discard draft_model'),
  ...refused(openai, 'ttl', {use: 'keep_alive'}),
  ...limited(openai, 'lora', [[]]),
  ...refused(openai, 'kv_transfer_params vllm_xargs'),

  // Options of the Ollama API.
  ...works(ollama, 'options options.temperature options.top_k options.top_p options.min_p options.seed options.stop'),
  ...works(ollama, 'options.repeat_penalty options.presence_penalty options.frequency_penalty options.repeat_last_n'),
  ...works(ollama, 'options.num_predict options.num_ctx'),
  ...refused(ollama, 'options.max_tokens options.n_predict', {use: 'options.num_predict'}),
  ...refused(ollama, 'options.repetition_penalty', {use: 'options.repeat_penalty'}),
  ...limited(ollama, 'options.typical_p options.tfs_z', [1]),
  ...limited(ollama, 'options.mirostat', [0]),
  ...limited(ollama, 'options.penalize_newline', [true]),
  ...refused(ollama, 'options.logit_bias'),
  ...refused(ollama, 'options.grammar', {use: 'grammar'}),
  ...ignored(ollama, 'options.num_keep', 'integer'),
  ...ignored(ollama, 'options.mirostat_tau options.mirostat_eta options.numa options.num_batch options.num_gpu'),
  ...ignored(ollama, 'options.main_gpu options.low_vram options.f16_kv options.logits_all options.vocab_only'),
  ...ignored(ollama, 'options.use_mmap options.use_mlock options.embedding_only options.num_thread'),
  ...ignored(ollama, 'options.draft_num_predict'),
]

/** The form of the path of a field in a request: `messages[3].role` is `messages[].role`. */
const formOf = (param: string): string => param.replace(/\[\d+\]/g, '[]')

/** The table of one route. */
class RouteFields implements DeclaredFields {
  readonly #outcomes = new Map<string, Outcome>()
  /** Prefixes of paths in the table, such as `options.`. */
  readonly #objects = new Set([''])
  readonly #code: 'bad_request' | 'unsupported_value'

  constructor(route: Route) {
    this.#code = ollama.includes(route as (typeof ollama)[number]) ? 'bad_request' : 'unsupported_value'
    for (const {path, routes, outcome} of requestFields) {
      if (!routes.includes(route)) continue
      if (this.#outcomes.has(path)) throw new Error(`The table has two rows for ${path} of ${route}.`)
      this.#outcomes.set(path, outcome)
      this.#objects.add(path.slice(0, path.lastIndexOf('.') + 1))
    }
  }

  isListed(param: string): boolean {
    const form = formOf(param)
    return this.#outcomes.has(form) || !this.#objects.has(form.slice(0, form.lastIndexOf('.') + 1))
  }

  check(fields: Fields): void {
    for (const name of fields.names) {
      const param = fields.param(name)
      const outcome = this.#outcomes.get(formOf(param))
      if (outcome === undefined || outcome.kind === 'works') continue
      if (outcome.kind === 'ignored') {
        if (outcome.type !== undefined) fields[outcome.type](name)
        continue
      }
      const value = fields.get(name)
      if (value !== undefined && !outcome.values.some((allowed) => isDeepStrictEqual(value, allowed)))
        throw new SvcError(this.#code, {reason: reasonOf(param, outcome), param})
    }
  }
}

/** The message for a value that is not allowed; it names the field. */
function reasonOf(param: string, {values, what = param, use}: Limits): string {
  const allowed = values.map((value) => JSON.stringify(value)).join(' or ')
  const notes = [
    ...(allowed === '' ? (what === param ? [] : [`omit ${param}`]) : [`${param} must be ${allowed}`]),
    ...(use === undefined ? [] : [`use ${use}`]),
  ]
  return `this server does not support ${what}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`
}

const tables = new Map(routes.map((route) => [route, new RouteFields(route)]))

export const fieldsOf = (route: Route): DeclaredFields => tables.get(route) as DeclaredFields
