import {isDeepStrictEqual} from 'node:util'
import {SvcError} from '../errors/index.js'
import type {DeclaredFields, Fields} from './body.js'

/** The routes that generate text. */
export const routes = [
  '/api/generate',
  '/api/chat',
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/responses',
  '/v1/messages',
] as const
export type Route = (typeof routes)[number]

/** What the server does with a field of a request. A field that is null counts as absent. */
export type FieldOutcome =
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
  outcome: FieldOutcome
}

type Limits = Omit<Extract<FieldOutcome, {kind: 'limited'}>, 'kind'>

const rowsOf = (routes: readonly Route[], outcome: FieldOutcome, paths: string): FieldRow[] =>
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

const [generate, chat, chatCompletions, completions, responses, messages] = routes
const ollama = [generate, chat]
const openai = [chatCompletions, completions]
const agents = [responses, messages]
const v1 = [...openai, ...agents]
const withTemplate = [generate, chat, chatCompletions]
const chats = [chat, chatCompletions]

/**
 * Every field of the APIs, and the common extensions of vLLM, llama.cpp and LM Studio. Requests are validated by this
 * table, and the readers of requests may only read fields in it. Fields that are not in the table are ignored.
 */
export const requestFields: readonly FieldRow[] = [
  ...works(routes, 'model stream keep_alive'),
  ...works([...withTemplate, ...agents], 'chat_template_kwargs'),
  ...refused(
    [...withTemplate, ...agents],
    'chat_template_kwargs.messages chat_template_kwargs.tools chat_template_kwargs.documents ' +
      'chat_template_kwargs.add_generation_prompt chat_template_kwargs.chat_template',
  ),
  ...refused([completions], 'chat_template_kwargs', {use: chatCompletions}),

  // Prompts.
  ...works([generate], 'prompt system context raw'),
  ...refused([generate], 'messages', {use: 'prompt'}),
  ...works([chat], 'messages truncate'),
  ...works([chatCompletions, messages], 'messages'),
  ...works([responses], 'input instructions'),
  ...refused([responses], 'messages', {use: 'input'}),
  ...works([messages], 'system'),
  ...works([completions], 'prompt echo'),
  ...refused([completions], 'messages', {use: 'prompt'}),
  ...refused([chat, chatCompletions, messages], 'prompt', {use: 'messages'}),
  ...refused([responses], 'prompt', {what: 'stored prompts'}),
  ...limited([chat, chatCompletions, completions], 'system', [''], {use: 'a message with the role system'}),
  ...limited([responses], 'system', [''], {use: 'instructions'}),
  ...limited([chat, ...v1], 'raw', [false]),
  ...limited([chat, ...v1], 'context', [[]]),
  ...limited([chatCompletions, ...agents], 'echo', [false]),
  ...works([generate, completions], 'suffix'),
  ...limited([chat], 'suffix', [''], {use: '/api/generate'}),
  ...limited([chatCompletions, ...agents], 'suffix', [''], {use: '/v1/completions'}),
  ...limited(routes, 'template', [''], {what: 'custom templates'}),
  ...refused(routes, 'chat_template', {what: 'custom templates'}),
  ...limited(routes, 'images', [[]], {what: 'images'}),
  ...limited(routes, 'documents', [[]]),
  ...works([chatCompletions], 'add_generation_prompt continue_final_message'),
  ...limited([chatCompletions], 'add_special_tokens', [false]),
  ...limited([completions], 'add_special_tokens', [true]),
  ...refused(v1, 'truncate_prompt_tokens prompt_embeds'),
  ...works([responses], 'truncation'),
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

  // Items of a response's input.
  ...works([responses], 'input[].type input[].role input[].content input[].call_id input[].name input[].arguments'),
  ...works([responses], 'input[].output input[].summary input[].content[].type input[].content[].text'),
  ...works([responses], 'input[].content[].refusal input[].output[].type input[].output[].text'),
  ...works([responses], 'input[].summary[].text'),
  ...ignored([responses], 'input[].id input[].status input[].phase input[].encrypted_content input[].namespace'),
  ...ignored([responses], 'input[].caller input[].summary[].type input[].content[].annotations'),
  ...ignored([responses], 'input[].content[].logprobs'),
  ...refused([responses], 'input[].content[].image_url input[].output[].image_url', {what: 'images'}),
  ...refused([responses], 'input[].content[].file_id input[].content[].file_data input[].content[].file_url', {
    what: 'files',
  }),

  // Blocks of Anthropic's messages.
  ...works([messages], 'messages[].role messages[].content messages[].content[].type messages[].content[].text'),
  ...works([messages], 'messages[].content[].thinking messages[].content[].id messages[].content[].name'),
  ...works([messages], 'messages[].content[].input messages[].content[].tool_use_id messages[].content[].content'),
  ...works(
    [messages],
    'messages[].content[].is_error messages[].content[].content[].type messages[].content[].content[].tool_name',
  ),
  ...works([messages], 'messages[].content[].content[].text system[].type system[].text'),
  ...ignored([messages], 'messages[].content[].cache_control messages[].content[].content[].cache_control'),
  ...ignored([messages], 'system[].cache_control system[].citations messages[].content[].citations'),
  ...ignored([messages], 'messages[].content[].signature messages[].content[].data messages[].content[].caller'),
  ...refused([messages], 'messages[].content[].source messages[].content[].content[].source', {
    what: 'images and documents',
  }),

  // Thinking.
  ...works(withTemplate, 'think reasoning_effort'),
  ...limited([completions], 'think', [false], {what: 'thinking'}),
  ...limited([completions], 'reasoning_effort', ['none'], {what: 'thinking'}),
  ...refused(openai, 'reasoning thinking', {use: 'reasoning_effort'}),
  ...works([responses], 'reasoning reasoning.effort reasoning.summary reasoning.generate_summary'),
  ...ignored([responses], 'reasoning.context'),
  ...limited([responses], 'reasoning.mode', ['standard']),
  ...refused([responses], 'think reasoning_effort thinking', {use: 'reasoning.effort'}),
  ...works([messages], 'thinking thinking.type thinking.budget_tokens thinking.display'),
  ...works([messages], 'output_config output_config.effort'),
  ...refused([messages], 'output_config.task_budget'),
  ...refused([messages], 'think reasoning reasoning_effort', {use: 'thinking, or output_config.effort'}),
  ...refused(ollama, 'reasoning thinking', {use: 'think'}),
  ...refused([...withTemplate, ...agents], 'enable_thinking', {use: 'chat_template_kwargs.enable_thinking'}),
  ...works([...chats, responses], 'thinking_budget_tokens thinking_token_budget reasoning_budget'),
  ...refused([messages], 'thinking_budget_tokens thinking_token_budget reasoning_budget', {
    use: 'thinking.budget_tokens',
  }),
  ...refused([completions], 'thinking_budget_tokens thinking_token_budget reasoning_budget', {use: chatCompletions}),
  ...refused([generate], 'thinking_budget_tokens thinking_token_budget reasoning_budget', {use: chat}),
  ...limited(v1, 'include_reasoning', [true]),
  ...limited(v1, 'separate_reasoning thinking_forced_open', [false]),
  ...limited(v1, 'reasoning_format', ['none']),

  // Length and end.
  ...works([chatCompletions], 'max_tokens max_completion_tokens stop'),
  ...works([completions], 'max_tokens stop'),
  ...refused([completions], 'max_completion_tokens', {use: 'max_tokens'}),
  ...refused(openai, 'n_predict num_predict max_output_tokens', {use: 'max_tokens'}),
  ...works([responses], 'max_output_tokens stop'),
  ...refused([responses], 'max_tokens max_completion_tokens n_predict num_predict', {use: 'max_output_tokens'}),
  ...works([messages], 'max_tokens stop_sequences'),
  ...refused([messages], 'max_completion_tokens n_predict num_predict max_output_tokens max_tokens_to_sample', {
    use: 'max_tokens',
  }),
  ...refused([messages], 'stop', {use: 'stop_sequences'}),
  ...refused(ollama, 'max_tokens max_completion_tokens n_predict num_predict max_output_tokens', {
    use: 'options.num_predict',
  }),
  ...refused(ollama, 'stop', {use: 'options.stop'}),
  ...refused(ollama, 'num_ctx', {use: 'options.num_ctx'}),
  ...refused(v1, 'num_ctx', {use: 'the flag --num-ctx of the server'}),
  ...limited(v1, 'options', [{}]),
  ...limited(v1, 'min_tokens', [0]),
  ...limited(v1, 'ignore_eos include_stop_str_in_output', [false]),
  ...limited(v1, 'stop_token_ids bad_words logits_processors', [[]]),
  ...limited(v1, 't_max_predict_ms', [0, -1]),

  // Sampling.
  ...works(v1, 'temperature top_p top_k min_p seed presence_penalty frequency_penalty repetition_penalty'),
  ...works(v1, 'repeat_penalty repeat_last_n logit_bias'),
  ...works(openai, 'n'),
  ...limited(agents, 'n', [1]),
  ...works([completions], 'best_of'),
  ...limited([chatCompletions, ...agents], 'best_of', [1]),
  ...[
    ...['temperature', 'top_p', 'top_k', 'min_p', 'seed', 'presence_penalty', 'frequency_penalty', 'repeat_penalty'],
    ...['repeat_last_n'],
  ].flatMap((name) => refused(ollama, name, {use: `options.${name}`})),
  ...refused(ollama, 'repetition_penalty', {use: 'options.repeat_penalty'}),
  ...refused(ollama, 'logit_bias'),
  ...limited(ollama, 'n', [1]),
  ...limited(v1, 'typical_p tfs_z length_penalty n_cmpl', [1]),
  ...limited(v1, 'mirostat xtc_probability dry_multiplier dynatemp_range top_a min_keep', [0]),
  ...limited(v1, 'top_n_sigma', [0, -1]),
  ...limited(v1, 'use_beam_search early_stopping', [false]),
  ...refused(v1, 'samplers allowed_token_ids'),
  ...ignored(v1, 'mirostat_tau mirostat_eta xtc_threshold dry_base dry_allowed_length dry_penalty_last_n'),
  ...ignored(v1, 'dry_sequence_breakers dynatemp_exponent'),

  // Structured output and tools.
  ...works(ollama, 'format'),
  ...limited(openai, 'format', [''], {use: 'response_format'}),
  ...works([responses], 'text text.format text.format.type text.format.schema text.format.strict'),
  ...works([responses], 'text.format.name text.format.description'),
  ...ignored([responses], 'text.verbosity'),
  ...refused([responses], 'format response_format', {use: 'text.format'}),
  ...works([messages], 'output_config.format output_config.format.type output_config.format.schema'),
  ...refused([messages], 'format response_format output_format', {use: 'output_config.format'}),
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
  ...works([responses], 'tools tools[].type tools[].name tools[].description tools[].parameters tools[].strict'),
  ...works([responses], 'tool_choice tool_choice.type tool_choice.name tool_choice.mode tool_choice.tools'),
  ...works([responses], 'tool_choice.tools[].name parallel_tool_calls'),
  ...ignored(
    [responses],
    'tools[].defer_loading tools[].output_schema tools[].allowed_callers tool_choice.tools[].type',
  ),
  ...ignored([responses], 'max_tool_calls'),
  ...works([messages], 'tools tools[].type tools[].name tools[].description tools[].input_schema tools[].strict'),
  ...works([messages], 'tool_choice tool_choice.type tool_choice.name tool_choice.disable_parallel_tool_use'),
  ...works([messages], 'tools[].defer_loading'),
  ...ignored([messages], 'tools[].cache_control tools[].eager_input_streaming'),
  ...ignored([messages], 'tools[].input_examples tools[].allowed_callers'),
  ...refused([messages], 'parallel_tool_calls', {use: 'tool_choice.disable_parallel_tool_use'}),
  ...refused([messages], 'mcp_servers', {what: 'MCP servers'}),
  ...limited([generate, completions], 'tool_choice', ['none', 'auto'], {what: 'tools'}),
  ...refused(routes, 'functions', {use: 'tools'}),
  ...refused(routes, 'function_call', {use: 'tool_choice'}),
  ...ignored([generate, completions], 'parallel_tool_calls', 'boolean'),
  ...refused(v1, 'web_search_options'),
  ...limited(v1, 'modalities', [['text']], {what: 'other modalities'}),
  ...refused(v1, 'audio mm_processor_kwargs media_io_kwargs'),

  // Form of the response.
  ...works([...ollama, ...openai], 'logprobs'),
  ...works([...withTemplate, responses], 'top_logprobs'),
  ...refused([responses], 'logprobs', {use: 'top_logprobs'}),
  ...refused([messages], 'logprobs top_logprobs'),
  ...works([responses], 'include'),
  ...refused([completions], 'top_logprobs', {use: 'logprobs'}),
  ...works(openai, 'stream_options stream_options.include_usage'),
  ...ignored([...openai, responses], 'stream_options.include_obfuscation'),
  ...limited(openai, 'stream_options.continuous_usage_stats', [false]),
  ...ignored([...ollama, ...agents], 'stream_options'),
  ...limited(v1, 'skip_special_tokens detokenize', [true]),
  ...ignored(v1, 'spaces_between_special_tokens', 'boolean'),
  ...limited(v1, 'return_tokens_as_token_ids return_token_ids return_tokens return_progress', [false]),
  ...limited(v1, 'timings_per_token post_sampling_probs', [false]),
  ...limited(v1, 'n_probs', [0]),
  ...refused(v1, 'prompt_logprobs response_fields'),

  // Operation of the server.
  ...ignored(ollama, 'shift', 'boolean'),
  ...ignored([...ollama, ...openai, messages], 'user metadata'),
  ...works([responses], 'user metadata safety_identifier prompt_cache_key'),
  ...ignored([responses], 'store', 'boolean'),
  ...refused([responses], 'previous_response_id', {what: 'stored responses', use: 'input'}),
  ...refused([responses], 'conversation', {what: 'stored conversations', use: 'input'}),
  ...limited([responses], 'background', [false]),
  ...limited([responses], 'context_management', [[]]),
  ...refused([responses], 'moderation'),
  ...ignored(openai, 'store safety_identifier prompt_cache_key'),
  ...ignored([...openai, responses], 'service_tier prompt_cache_retention prediction verbosity'),
  ...ignored([responses], 'prompt_cache_options client_metadata'),
  ...ignored([messages], 'service_tier cache_control inference_geo diagnostics user_profile_id'),
  ...works([messages], 'context_management context_management.edits'),
  ...limited([messages], 'context_management.edits[].type', ['clear_thinking_20251015']),
  ...ignored([messages], 'context_management.edits[].keep'),
  ...limited([messages], 'speed', ['standard']),
  ...refused([messages], 'container compaction fallbacks'),
  ...ignored(v1, 'priority request_id cache_salt cache_prompt id_slot n_keep n_discard draft_model'),
  ...refused(v1, 'ttl', {use: 'keep_alive'}),
  ...limited(v1, 'lora', [[]]),
  ...refused(v1, 'kv_transfer_params vllm_xargs'),

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
  readonly #outcomes = new Map<string, FieldOutcome>()
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
