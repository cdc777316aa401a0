import {nearest, SvcError} from '../../errors/index.js'

/** Codes of error events that a client can cause, and when they are sent. Their names are those of OpenAI. */
export const realtimeErrors = {
  invalid_event: 'A message is not a JSON text of an object, or has no `type`.',
  unknown_parameter: 'An event has a field that this server does not know.',
  missing_required_parameter: 'A required field is missing.',
  invalid_type: 'A field has a value of another JSON type.',
  invalid_value: 'A field, or the type of an event, has a value that this server does not support.',
  model_not_found: 'The model is not the served one.',
  input_audio_buffer_commit_empty: 'The buffer has no audio to commit.',
} as const

export type RealtimeError = keyof typeof realtimeErrors

/** An event of the client, and its fields in addition to `type` and `event_id`. */
export interface RealtimeEvent {
  type: string
  required?: 'session' | 'audio'
  effect: string
}

export const realtimeEvents: readonly RealtimeEvent[] = [
  {
    type: 'session.update',
    required: 'session',
    effect: 'Changes the fields that it contains. Answered by `session.updated`, or by an error without any change.',
  },
  {
    type: 'input_audio_buffer.append',
    required: 'audio',
    effect: 'Adds audio. An event may end within a sample; the next one continues it.',
  },
  {type: 'input_audio_buffer.commit', effect: 'Ends the utterance. Answered by `input_audio_buffer.committed`.'},
  {
    type: 'input_audio_buffer.clear',
    effect: 'Drops the audio of the current utterance. Answered by `input_audio_buffer.cleared`.',
  },
]

type JsonType = 'object' | 'list' | 'string' | 'number' | 'boolean' | 'null'

/** A field of an event. Null counts as absent, except in `turn_detection`. */
export interface RealtimeField {
  path: string
  type: JsonType
  /** The accepted values, as in "rate must be 8000 or 16000". */
  accepts: string
  isValid?: (value: never) => boolean
  /** Why no other value is accepted. */
  reason?: string
  effect: string
  /** Name of the field in the versions of the API with a flat session. */
  formerly?: string
}

const input = 'session.audio.input'
const text = {
  type: 'string',
  accepts: 'a text of at most 4096 characters',
  isValid: ({length}: string) => length <= 4096,
} as const
const only = (value: unknown, reason: string) =>
  ({
    type: jsonTypeOf(value),
    accepts: JSON.stringify(value),
    isValid: (given: unknown) => given === value,
    reason,
    effect: reason,
  }) as const
const from = (min: number, max: number, effect: string) =>
  ({
    type: 'number',
    accepts: `a number from ${min} to ${max}`,
    isValid: (value: number) => value >= min && value <= max,
    effect,
  }) as const
const object = {type: 'object', accepts: 'an object'} as const
const noResponses = {
  type: 'boolean',
  accepts: 'a boolean',
  effect: 'None: a transcription session has no responses.',
} as const
const rates: readonly number[] = [8000, 16_000, 24_000, 48_000]

/** Every field that is accepted. */
export const realtimeFields = [
  {path: 'session', ...object, effect: 'The settings to change.'},
  {path: 'session.type', ...only('transcription', 'Other sessions are not supported.')},
  {
    path: 'session.include',
    type: 'list',
    accepts: 'an empty list',
    isValid: (list: unknown[]) => list.length === 0,
    effect: 'Results have no log-probabilities.',
  },
  {path: 'session.audio', ...object, effect: 'Only `input`: there is no output.'},
  {path: input, ...object, effect: 'The audio of the client.'},
  {path: `${input}.format`, ...object, effect: 'Cannot change after the first audio.', formerly: 'input_audio_format'},
  {path: `${input}.format.type`, ...only('audio/pcm', '16-bit little-endian PCM, mono.')},
  {
    path: `${input}.format.rate`,
    type: 'number',
    accepts: '8000, 16000, 24000 or 48000',
    isValid: (rate: number) => rates.includes(rate),
    effect: 'Sample rate, Hz. Default: 24000.',
  },
  {
    path: `${input}.noise_reduction`,
    ...only(null, 'There is no noise reduction.'),
    formerly: 'input_audio_noise_reduction',
  },
  {
    path: `${input}.transcription`,
    ...object,
    effect: 'How the audio is transcribed.',
    formerly: 'input_audio_transcription',
  },
  {path: `${input}.transcription.model`, ...text, effect: 'The served model, or a name that means it.'},
  {
    path: `${input}.transcription.language`,
    ...text,
    effect: 'Code or name of the language; an empty text lets the model decide.',
  },
  {
    path: `${input}.transcription.prompt`,
    ...text,
    effect: 'Text that sets style and spelling. Cannot change after the first audio.',
  },
  {
    path: `${input}.turn_detection`,
    ...object,
    accepts: 'an object or null',
    effect: 'Ends utterances after a pause; with null, only a commit does. Cannot change after the first audio.',
    formerly: 'turn_detection',
  },
  {path: `${input}.turn_detection.type`, ...only('server_vad', 'The text is not considered.')},
  {
    path: `${input}.turn_detection.silence_duration_ms`,
    ...from(100, 10_000, 'Duration of the pause. Default: 500.'),
  },
  {
    path: `${input}.turn_detection.threshold`,
    ...only(0.5, 'Settings of the server decide the sensitivity of the voice activity detector.'),
  },
  {
    path: `${input}.turn_detection.prefix_padding_ms`,
    ...from(0, 1000, 'None: an utterance includes up to a second before the speech.'),
  },
  {path: `${input}.turn_detection.create_response`, ...noResponses},
  {path: `${input}.turn_detection.interrupt_response`, ...noResponses},
  {path: `${input}.turn_detection.idle_timeout_ms`, ...only(null, 'There is no timeout.')},
  {path: 'audio', type: 'string', accepts: 'a base64 text', effect: 'Audio in the format of the session.'},
  {path: 'event_id', ...text, effect: 'An error that the event causes has the same `event_id`.'},
] as const satisfies readonly RealtimeField[]

type Path = (typeof realtimeFields)[number]['path']

const rowOf = new Map<string, RealtimeField>(realtimeFields.map((row) => [row.path, row]))

/** An event of the client, with valid fields. */
export interface ClientEvent {
  type: string
  event_id?: string | null
  session?: RealtimeSessionFields
  audio?: string
}

/** The `session` of a `session.update`. */
export interface RealtimeSessionFields {
  audio?: {
    input?: {
      format?: {rate?: number | null} | null
      transcription?: {model?: string | null; language?: string | null; prompt?: string | null} | null
      turn_detection?: {silence_duration_ms?: number | null} | null
    } | null
  } | null
}

export const realtimeError = (openai: RealtimeError, reason: string, param?: Path | (string & {})): SvcError =>
  new SvcError('bad_request', {reason, param, openai})

/**
 * Checks an event of a client: its type, and each of its fields.
 * @throws bad_request, with a code of `realtimeErrors` and the path of the field
 */
export function checkedEvent(event: object): ClientEvent {
  const {type, ...fields} = event as Partial<Record<string, unknown>>
  if (type === undefined) throw realtimeError('invalid_event', 'The event has no type.', 'type')
  const known = realtimeEvents.find((row) => row.type === type)
  if (known === undefined) throw realtimeError('invalid_value', mustBe('type', listed(realtimeEvents), type), 'type')
  const {required} = known
  if (required !== undefined && (fields[required] ?? undefined) === undefined)
    throw realtimeError('missing_required_parameter', `${required} is missing.`, required)
  for (const [name, value] of Object.entries(fields)) {
    if (name !== required && name !== 'event_id') throw unknown(name)
    check(name, value)
  }
  return event as ClientEvent
}

function check(path: string, value: unknown): void {
  const row = rowOf.get(path)
  if (row === undefined) throw unknown(path)
  if (value === null) return
  const {type, accepts, isValid = () => true, reason} = row
  const hasType = jsonTypeOf(value) === type
  if (!hasType || !isValid(value as never))
    throw realtimeError(
      hasType || type === 'null' ? 'invalid_value' : 'invalid_type',
      [mustBe(path, accepts, value), reason].filter(Boolean).join(' '),
      path,
    )
  if (type === 'object') for (const [name, inner] of Object.entries(value as object)) check(`${path}.${name}`, inner)
}

function unknown(path: string): SvcError {
  const shown = path.slice(0, 200)
  const moved = realtimeFields.find((row) => 'formerly' in row && `session.${row.formerly}` === path)
  const similar = moved?.path ?? nearest(shown, [...rowOf.keys()])
  const hint = similar === undefined ? '' : ` Use ${similar}.`
  return realtimeError('unknown_parameter', `Unknown parameter: ${shown}.${hint}`, shown)
}

const mustBe = (path: string, accepts: string, value: unknown) =>
  `${path} must be ${accepts}, not ${JSON.stringify(value)?.slice(0, 60)}.`

const listed = (events: readonly RealtimeEvent[]) =>
  `${events
    .slice(0, -1)
    .map(({type}) => type)
    .join(', ')} or ${events.at(-1)?.type}`

function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : (typeof value as JsonType)
}
