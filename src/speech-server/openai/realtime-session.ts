import type {RealtimeSessionFields} from './realtime-fields.js'

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

/** Applies the `session` of a `session.update`; what it omits stays. */
export function updatedSettings(settings: RealtimeSettings, {audio}: RealtimeSessionFields): RealtimeSettings {
  const {format, transcription, turn_detection: detection} = audio?.input ?? {}
  const {model, language, prompt} = transcription ?? {}
  return {
    rate: format?.rate ?? settings.rate,
    model: chosen(model, settings.model),
    language: chosen(language, settings.language),
    prompt: chosen(prompt, settings.prompt),
    silenceMs: silenceOf(detection, settings.silenceMs),
  }
}

/** An empty text is no choice. */
const chosen = (text: string | null | undefined, before: string | undefined) =>
  text === undefined ? before : text || undefined

function silenceOf(
  detection: {silence_duration_ms?: number | null} | null | undefined,
  before: number | undefined,
): number | undefined {
  if (detection === null) return undefined
  if (detection === undefined) return before
  return detection.silence_duration_ms ?? defaultRealtimeSettings.silenceMs
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
