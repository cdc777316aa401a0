import {SvcError} from '../../errors/index.js'
import {isAbsent, type NeutralKeys, oneOf, unsupportedKey} from '../../weights/index.js'

/**
 * Keys of a Hugging Face `config.json` that do not affect inference: metadata, training options, choices between equal
 * implementations, generation defaults, and keys of other programs that transformers does not read. `max_window_layers` has
 * no effect without `use_sliding_window`, with which it is read.
 */
const inert: ReadonlySet<string> = new Set([
  'architectures',
  'attention_dropout',
  'attention_implementation',
  'attention_probs_dropout_prob',
  'attn_impl',
  'attn_implementation',
  'auto_map',
  'bad_words_ids',
  'begin_suppress_tokens',
  'bos_token',
  'bos_token_id',
  'cache_config',
  'cache_implementation',
  'chunk_size_feed_forward',
  'classifier_dropout',
  'cls_token_id',
  'decoder_start_token_id',
  'diversity_penalty',
  'do_sample',
  'dropout',
  'dtype',
  'early_stopping',
  'embd_pdrop',
  'embedding_dropout',
  'encoder_no_repeat_ngram_size',
  'encoder_repetition_penalty',
  'eos_token',
  'eos_token_id',
  'epsilon_cutoff',
  'eta_cutoff',
  'exponential_decay_length_penalty',
  'finetuning_task',
  'flash_attention',
  'flash_attn',
  'forced_bos_token_id',
  'forced_eos_token_id',
  'gradient_checkpointing',
  'guidance_scale',
  'hidden_dropout',
  'hidden_dropout_prob',
  'id2label',
  'initializer_factor',
  'initializer_range',
  'is_decoder',
  'is_encoder_decoder',
  'is_llama_config',
  'label2id',
  'layerdrop',
  'length_penalty',
  'logits_to_keep',
  'low_memory',
  'max_length',
  'max_matching_ngram_size',
  'max_new_tokens',
  'max_seq_len',
  'max_seq_length',
  'max_sequence_length',
  'max_time',
  'max_window_layers',
  'min_length',
  'min_new_tokens',
  'min_p',
  'model_max_length',
  'model_type',
  'no_repeat_ngram_size',
  'num_assistant_tokens',
  'num_beam_groups',
  'num_beams',
  'num_logits_to_keep',
  'num_return_sequences',
  'output_attentions',
  'output_hidden_states',
  'output_logits',
  'output_scores',
  'pad_token',
  'pad_token_id',
  'penalty_alpha',
  'prefix',
  'pretraining_tp',
  'problem_type',
  'remove_invalid_values',
  'renormalize_logits',
  'repetition_penalty',
  'resid_dropout',
  'resid_pdrop',
  'residual_dropout',
  'return_dict',
  'return_dict_in_generate',
  'rope_interleaved',
  'sep_token_id',
  'seq_length',
  'sequence_bias',
  'stop_strings',
  'suppress_tokens',
  'task_specific_params',
  'temperature',
  'tf_legacy_loss',
  'token_healing',
  'tokenizer_class',
  'top_h',
  'top_k',
  'top_p',
  'torch_dtype',
  'torchscript',
  'transformers.js_config',
  'transformers_version',
  'typical_p',
  'unk_token',
  'unk_token_id',
  'use_bfloat16',
  'use_cache',
  'use_flash_attention',
  'use_flash_attention_2',
  'use_flash_attn',
  'use_sdpa',
])

/** Values of keys of other architectures with which these compute the same as Llama. */
const neutral: NeutralKeys['neutral'] = {
  causal: oneOf(true),
  embedding_multiplier: oneOf(1),
  is_causal: oneOf(true),
  logit_scale: oneOf(1),
  logits_scaling: oneOf(1),
  no_bias: oneOf(true),
  num_experts: oneOf(0),
  num_local_experts: oneOf(0),
  num_nextn_predict_layers: oneOf(0),
  position_embedding_type: oneOf('rope', 'rotary'),
  residual_multiplier: oneOf(1),
  rope_scaling_factor: oneOf(1),
  rotary_pct: oneOf(1),
  scale_emb: oneOf(1),
}

type Config = Readonly<Record<string, unknown>>

/**
 * Reads a `config.json` and records which keys were read, so that unread keys can be rejected instead of ignored. Null
 * and false count as absent.
 */
export class ConfigReader {
  readonly #config: Config
  readonly #file: string
  readonly #ignored: readonly string[]
  /** Prefix of the keys in messages: those of the objects that contain this one. */
  readonly #path: string
  readonly #read = new Set<string>()

  /** @param ignored keys that may be present although they are not read; nested ones as `object.key` */
  constructor(config: Config, file: string, ignored: readonly string[] = [], path = '') {
    this.#config = config
    this.#file = file
    this.#ignored = ignored
    this.#path = path
  }

  /** An integer of at least 1, or of at least another one. */
  count(key: string, fallback?: number, min = 1): number {
    const value = this.#take(key) ?? fallback
    if (!Number.isSafeInteger(value) || (value as number) < min)
      throw this.#invalid(key, `an integer of at least ${min}`)
    return value as number
  }

  /** An integer of at least 1, or undefined if absent. */
  optionalCount(key: string): number | undefined {
    return isAbsent(this.#take(key)) ? undefined : this.count(key)
  }

  optionalNumber(key: string): number | undefined {
    const value = this.#take(key)
    if (isAbsent(value)) return undefined
    if (!Number.isFinite(value)) throw this.#invalid(key, 'a number')
    return value as number
  }

  positive(key: string, fallback?: number): number {
    const value = this.#take(key) ?? fallback
    if (!Number.isFinite(value) || (value as number) <= 0) throw this.#invalid(key, 'a number above 0')
    return value as number
  }

  /** A number above 0, or undefined if absent. */
  optionalPositive(key: string): number | undefined {
    return isAbsent(this.#take(key)) ? undefined : this.positive(key)
  }

  /** A list of numbers above 0. */
  positives(key: string): readonly number[] {
    const value = this.#take(key)
    if (!Array.isArray(value) || !value.every((each) => Number.isFinite(each) && each > 0))
      throw this.#invalid(key, 'a list of numbers above 0')
    return value
  }

  /** A list of integers of at least 0, or undefined if absent. */
  integers(key: string): readonly number[] | undefined {
    const value = this.#take(key)
    if (isAbsent(value)) return undefined
    if (!Array.isArray(value) || !value.every((each) => Number.isSafeInteger(each) && each >= 0))
      throw this.#invalid(key, 'a list of integers of at least 0')
    return value
  }

  flag(key: string, fallback: boolean): boolean {
    const value = this.#take(key) ?? fallback
    if (typeof value !== 'boolean') throw this.#invalid(key, 'true or false')
    return value
  }

  /** True or false, or undefined if absent. */
  optionalFlag(key: string): boolean | undefined {
    return this.#take(key) === undefined ? undefined : this.flag(key, false)
  }

  /** A string, or undefined if absent. */
  word(key: string): string | undefined {
    const value = this.#take(key)
    if (isAbsent(value)) return undefined
    if (typeof value !== 'string') throw this.#invalid(key, 'a string')
    return value
  }

  /** A list of known strings, or undefined if absent. */
  words(key: string, ...known: readonly string[]): readonly string[] | undefined {
    const value = this.#take(key)
    if (isAbsent(value)) return undefined
    if (!Array.isArray(value)) throw this.#invalid(key, 'a list')
    const unknown = value.find((item) => !known.includes(item))
    if (unknown !== undefined) throw this.#unsupported(key, unknown)
    return value
  }

  /** Accepts keys that are not used. */
  skip(...keys: readonly string[]): void {
    for (const key of keys) this.#read.add(key)
  }

  has(key: string): boolean {
    return !isAbsent(this.#config[key])
  }

  /** Accepts only these values of a key that affects the computation; if absent, the first one applies. */
  only(key: string, ...known: readonly unknown[]): void {
    const value = this.#take(key)
    if (isAbsent(value) || known.includes(value)) return
    throw this.#unsupported(key, value)
  }

  /** A nested object with its own record of read keys; empty if absent. */
  table(key: string): ConfigReader {
    const value = this.#take(key)
    if (isAbsent(value)) return new ConfigReader({}, this.#file, this.#ignored)
    if (typeof value !== 'object' || Array.isArray(value)) throw this.#invalid(key, 'an object')
    return new ConfigReader(value as Config, this.#file, this.#ignored, `${this.#path}${key}.`)
  }

  /** @throws model_config_unsupported for the first unread key; usage for an ignored key that is read */
  refuseUnread(): void {
    const isIgnored = (key: string) => this.#ignored.includes(this.#path + key)
    const unread = unsupportedKey(this.#config, {inert, neutral}, (key) => this.#read.has(key) || isIgnored(key))
    if (unread !== undefined) throw this.#unsupported(unread, this.#config[unread], false)
    const needed = Object.keys(this.#config).find((key) => this.#read.has(key) && isIgnored(key))
    if (needed === undefined) return
    const reason = `${this.#path}${needed} in ${this.#file} affects the computation and cannot be ignored.`
    throw new SvcError('usage', {reason})
  }

  invalid(reason: string): SvcError {
    return new SvcError('model_file_invalid', {file: this.#file, reason})
  }

  unsupported(key: string): SvcError {
    return this.#unsupported(key, this.#config[key] ?? this.#config.type)
  }

  #take(key: string): unknown {
    this.#read.add(key)
    return this.#config[key] ?? undefined
  }

  #invalid(key: string, expected: string): SvcError {
    return this.invalid(`${this.#path}${key} must be ${expected}, not ${JSON.stringify(this.#config[key])}`)
  }

  /** @param isKnown whether the key is known to affect the computation */
  #unsupported(key: string, value: unknown, isKnown = true): SvcError {
    const name = this.#path + key
    return new SvcError('model_config_unsupported', {
      file: this.#file,
      key: name,
      value: JSON.stringify(value),
      isKnown,
    })
  }
}
