import {SvcError} from '../../errors/index.js'

/**
 * Keys of a Hugging Face `config.json` that do not affect inference: metadata, training options, generation defaults, and
 * keys of other programs that transformers does not read.
 */
const inert = new Set([
  'architectures',
  'attention_dropout',
  'auto_map',
  'bad_words_ids',
  'begin_suppress_tokens',
  'bos_token_id',
  'chunk_size_feed_forward',
  'classifier_dropout',
  'cls_token_id',
  'decoder_start_token_id',
  'diversity_penalty',
  'do_sample',
  'dtype',
  'early_stopping',
  'embd_pdrop',
  'encoder_no_repeat_ngram_size',
  'eos_token_id',
  'exponential_decay_length_penalty',
  'finetuning_task',
  'forced_bos_token_id',
  'forced_eos_token_id',
  'hidden_dropout',
  'id2label',
  'initializer_range',
  'is_decoder',
  'is_encoder_decoder',
  'is_llama_config',
  'label2id',
  'length_penalty',
  'max_length',
  'min_length',
  'model_type',
  'no_repeat_ngram_size',
  'num_beam_groups',
  'num_beams',
  'num_return_sequences',
  'output_attentions',
  'output_hidden_states',
  'output_scores',
  'pad_token_id',
  'prefix',
  'pretraining_tp',
  'problem_type',
  'remove_invalid_values',
  'repetition_penalty',
  'resid_pdrop',
  'return_dict',
  'return_dict_in_generate',
  'rope_interleaved',
  'sep_token_id',
  'suppress_tokens',
  'task_specific_params',
  'temperature',
  'tf_legacy_loss',
  'tokenizer_class',
  'top_k',
  'top_p',
  'torch_dtype',
  'torchscript',
  'transformers.js_config',
  'transformers_version',
  'typical_p',
  'unk_token_id',
  'unsloth_fixed',
  'unsloth_version',
  'use_bfloat16',
  'use_cache',
])

type Config = Readonly<Record<string, unknown>>

/**
 * Reads a `config.json` and records which keys were read, so that unread keys can be rejected instead of ignored. Null
 * and false count as absent.
 */
export class ConfigReader {
  readonly #config: Config
  readonly #file: string
  readonly #read = new Set<string>()

  constructor(config: Config, file: string) {
    this.#config = config
    this.#file = file
  }

  /** An integer of at least 1. */
  count(key: string, fallback?: number): number {
    const value = this.#take(key) ?? fallback
    if (!Number.isSafeInteger(value) || (value as number) < 1) throw this.#invalid(key, 'an integer of at least 1')
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
    if (isAbsent(value)) return new ConfigReader({}, this.#file)
    if (typeof value !== 'object' || Array.isArray(value)) throw this.#invalid(key, 'an object')
    return new ConfigReader(value as Config, this.#file)
  }

  /** @throws model_config_unsupported for the first unread key */
  refuseUnread(): void {
    const unread = Object.keys(this.#config).find(
      (key) => !this.#read.has(key) && !inert.has(key) && !key.startsWith('_') && !isEmpty(this.#config[key]),
    )
    if (unread !== undefined) throw this.#unsupported(unread, this.#config[unread])
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
    return this.invalid(`${key} must be ${expected}, not ${JSON.stringify(this.#config[key])}`)
  }

  #unsupported(key: string, value: unknown): SvcError {
    return new SvcError('model_config_unsupported', {file: this.#file, key, value: JSON.stringify(value)})
  }
}

/** Absent, or an empty list or object. */
const isEmpty = (value: unknown): boolean =>
  isAbsent(value) || (typeof value === 'object' && Object.keys(value as object).length === 0)

const isAbsent = (value: unknown): value is null | undefined | false =>
  value === null || value === undefined || value === false
