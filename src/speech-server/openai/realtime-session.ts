import {SvcError} from '../../errors/index.js'

/** Settings of a transcription session, as `session.update` changes them. */
export interface RealtimeSettings {
  /** Sample rate of the audio, s16le mono, Hz. */
  rate: number
  model: string | undefined
  language: string | undefined
  prompt: string | undefined
  /** Silence that ends an utterance, ms; undefined: only a commit does. */
  silenceMs: number | undefined
}

export const defaultRealtimeSettings: RealtimeSettings = {
  rate: 24_000,
  model: undefined,
  language: undefined,
  prompt: undefined,
  silenceMs: 500,
}

const rates = [8000, 16_000, 24_000, 48_000]

/**
 * Applies the `session` of a `session.update`; what it omits stays.
 * @throws unsupported_value, bad_request, with the path of the field
 */
export function updatedSettings(settings: RealtimeSettings, session: unknown): RealtimeSettings {
  const {type, audio, include} = fields(session, 'session')
  if (type !== undefined && type !== 'transcription')
    throw unsupported('session.type', `this server supports only transcription sessions, not ${quoted(type)}`)
  if (Array.isArray(include) && include.length > 0)
    throw unsupported('session.include', 'this server returns no log-probabilities of tokens')
  const input = fields(fields(audio, 'session.audio').input, 'session.audio.input')
  if (input.noise_reduction !== undefined && input.noise_reduction !== null)
    throw unsupported('session.audio.input.noise_reduction', 'this server has no noise reduction')
  return {
    ...settings,
    ...format(input.format),
    ...transcription(input.transcription),
    ...turnDetection(input.turn_detection),
  }
}

function format(value: unknown): Partial<RealtimeSettings> {
  const place = 'session.audio.input.format'
  if (value === undefined || value === null) return {}
  const {type, rate = 24_000} = fields(value, place)
  if (type !== 'audio/pcm') throw unsupported(`${place}.type`, `this server reads audio/pcm, not ${quoted(type)}`)
  if (typeof rate === 'number' && rates.includes(rate)) return {rate}
  throw unsupported(`${place}.rate`, `the sample rate must be one of ${rates.join(', ')}, not ${quoted(rate)}`)
}

function transcription(value: unknown): Partial<RealtimeSettings> {
  const place = 'session.audio.input.transcription'
  if (value === undefined || value === null) return {}
  const {model, language, prompt} = fields(value, place)
  return {
    ...(model === undefined ? {} : {model: text(model, `${place}.model`)}),
    ...(language === undefined ? {} : {language: text(language, `${place}.language`)}),
    ...(prompt === undefined ? {} : {prompt: text(prompt, `${place}.prompt`)}),
  }
}

function turnDetection(value: unknown): Partial<RealtimeSettings> {
  const place = 'session.audio.input.turn_detection'
  if (value === undefined) return {}
  if (value === null) return {silenceMs: undefined}
  const {type = 'server_vad', silence_duration_ms: silenceMs = 500} = fields(value, place)
  if (type !== 'server_vad')
    throw unsupported(`${place}.type`, `this server supports server_vad or null, not ${quoted(type)}`)
  if (typeof silenceMs === 'number' && silenceMs >= 100 && silenceMs <= 10_000) return {silenceMs}
  throw invalid(`${place}.silence_duration_ms`, `${quoted(silenceMs)} is not a number from 100 to 10000`)
}

/** The session as `session.created` and `session.updated` show it, with the settings in force. */
export function sessionObject(
  id: string,
  {rate, model, language, prompt, silenceMs}: RealtimeSettings,
  served: string | undefined,
  nextSample: number | undefined,
): object {
  return {
    type: 'transcription',
    object: 'realtime.transcription_session',
    id,
    audio: {
      input: {
        format: {type: 'audio/pcm', rate},
        noise_reduction: null,
        transcription: {
          model: model ?? served ?? null,
          ...(language === undefined ? {} : {language}),
          ...(prompt === undefined ? {} : {prompt}),
        },
        turn_detection:
          silenceMs === undefined
            ? null
            : {type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: silenceMs},
      },
    },
    include: null,
    ...(nextSample === undefined ? {} : {next_sample: nextSample}),
  }
}

function fields(value: unknown, place: string): Partial<Record<string, unknown>> {
  if (value === undefined || value === null) return {}
  if (typeof value === 'object' && !Array.isArray(value)) return value
  throw invalid(place, 'it is not an object')
}

function text(value: unknown, place: string): string | undefined {
  if (value === null || value === '') return undefined
  if (typeof value === 'string' && value.length <= 4096) return value
  throw invalid(place, 'it is not a string of at most 4096 characters')
}

const quoted = (value: unknown) => JSON.stringify(value)?.slice(0, 60)
const unsupported = (param: string, reason: string) => new SvcError('unsupported_value', {reason: `${reason}.`, param})
const invalid = (param: string, reason: string) => new SvcError('bad_request', {reason: `${param}: ${reason}.`, param})
