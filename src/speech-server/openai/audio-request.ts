import {nearest, SvcError} from '../../errors/index.js'
import type {SessionRequest} from '../../speech/index.js'
import {type FormFields, lastOf} from '../upload.js'

export const audioFormats = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const
const granularities = ['word', 'segment'] as const

/** A request of `/v1/audio/transcriptions` or `/v1/audio/translations`. */
export interface AudioRequest {
  /** As in the request; default: the served model. */
  model: string | undefined
  format: (typeof audioFormats)[number]
  stream: boolean
  session: SessionRequest
}

/** The fields of a form, apart from the recording. Any other field is refused. */
export const audioFields = [
  'model',
  'language',
  'prompt',
  'response_format',
  'temperature',
  'timestamp_granularities',
  'stream',
  'chunking_strategy',
  'user',
]

/** Fields of the API for features that this server does not have. */
const absent: Partial<Record<string, string>> = {
  include: 'include is not supported; no log probabilities are returned',
  known_speaker_names: 'known_speaker_names is not supported; speakers are not recognised',
  known_speaker_references: 'known_speaker_references is not supported; speakers are not recognised',
}

/**
 * Reads the fields of a form.
 * @throws bad_request, unsupported_value
 */
export function readAudioRequest(fields: FormFields, task: 'transcribe' | 'translate'): AudioRequest {
  refuseUnknown(fields)
  const format = choice('response_format', lastOf(fields, 'response_format') ?? 'json', audioFormats)
  const stream = choice('stream', lastOf(fields, 'stream')?.toLowerCase() ?? 'false', ['true', 'false']) === 'true'
  if (stream && format !== 'json' && format !== 'text')
    throw unsupported('response_format', 'response_format must be json or text if stream is true')
  const timed = (fields.get('timestamp_granularities') ?? []).map((value) =>
    choice('timestamp_granularities', value, granularities),
  )
  const words = timed.includes('word')
  if (words && format !== 'verbose_json')
    throw wrong('timestamp_granularities', 'include word only with response_format verbose_json')
  checkChunking(fields)
  const prompt = lastOf(fields, 'prompt')
  const temperature = readTemperature(lastOf(fields, 'temperature'))
  const language = task === 'translate' ? undefined : readLanguage(lastOf(fields, 'language'))
  return {
    model: lastOf(fields, 'model'),
    format,
    stream,
    session: {
      task,
      ...(words ? {word_timestamps: true} : {}),
      ...(language === undefined ? {} : {language_hint: language}),
      ...(prompt === undefined ? {} : {prompt}),
      ...(temperature === undefined ? {} : {temperature}),
    },
  }
}

/** @throws unsupported_value, bad_request */
function refuseUnknown(fields: FormFields): void {
  for (const field of fields.keys()) {
    const name = field.replace(/^(chunking_strategy)\[\w*\]$/, '$1')
    const reason = absent[name]
    if (reason !== undefined) throw unsupported(name, reason)
    if (audioFields.includes(name)) continue
    const suggestion = nearest(name, audioFields)
    const hint = suggestion === undefined ? '' : ` Did you mean ${suggestion}?`
    throw new SvcError('bad_request', {
      reason: `Unknown parameter: ${name}.${hint}`,
      param: name,
      openai: 'unknown_parameter',
    })
  }
}

function readTemperature(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (value >= 0 && value <= 1) return value
  throw wrong('temperature', 'be a number between 0 and 1')
}

function readLanguage(text: string | undefined): string | undefined {
  if (text === undefined || /^[a-z\d-]{2,16}$/i.test(text)) return text
  throw wrong('language', 'be a language code or name, such as en')
}

/** Accepts a strategy as a word, as a JSON object, or as fields such as `chunking_strategy[type]`; none has an effect. */
function checkChunking(fields: FormFields): void {
  const text = lastOf(fields, 'chunking_strategy')
  const type = lastOf(fields, 'chunking_strategy[type]') ?? (text === undefined ? 'auto' : typeOf(text))
  if (type !== 'auto' && type !== 'server_vad')
    throw wrong('chunking_strategy', 'be auto or an object of type server_vad')
}

function typeOf(text: string): unknown {
  if (text === 'auto') return text
  try {
    return (JSON.parse(text) as {type?: unknown} | null)?.type
  } catch {
    return undefined
  }
}

function choice<const T extends string>(param: string, text: string, values: readonly T[]): T {
  const value = values.find((one) => one === text)
  if (value !== undefined) return value
  throw wrong(param, `be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}`)
}

const wrong = (param: string, must: string) => new SvcError('bad_request', {reason: `${param} must ${must}`, param})

const unsupported = (param: string, reason: string) => new SvcError('unsupported_value', {reason, param})
