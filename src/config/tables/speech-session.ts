import {sectionSettings} from '../setting.js'
import {boolean, integer, milliseconds, number, type SettingType} from '../types.js'

/** A number below the minimum is raised to it in a file, and rejected in a variable. */
const raisedInFile = (min: number): SettingType<number> => ({
  ...integer({min}),
  accept: integer({min, clamp: true}).accept,
})

const share = number({min: 0, max: 1, clamp: true})

/** Time limits of a speech session, and the use of its transcript. */
export const speechSessionSettings = sectionSettings('speech', () => ({
  captureTimeoutMs: {
    type: integer({min: 0}),
    env: ['SVC_SPEECH_CAPTURE_TIMEOUT_MS'],
    default: 12_000,
    doc: 'Time without audio after which a live session fails, in milliseconds.',
  },
  maxDurationMs: {
    type: integer({min: 0}),
    env: ['SVC_SPEECH_MAX_DURATION_MS'],
    default: 120_000,
    doc: 'Maximum duration of one utterance of live speech, in milliseconds; at least the time without audio.',
  },
  inferenceDeadlineMs: {
    type: integer({min: 0}),
    env: ['SVC_SPEECH_INFERENCE_DEADLINE_MS'],
    default: 0,
    doc: 'Time limit for the recognition of an utterance, in milliseconds; 0 uses its maximum duration.',
  },
  heartbeatMs: {
    type: integer({min: 0}),
    env: ['SVC_SPEECH_HEARTBEAT_MS'],
    default: 3000,
    doc: 'Interval of heartbeat events of a live session without other events, in milliseconds.',
  },
  toolRouteMinConfidence: {
    type: share,
    env: ['SVC_SPEECH_TOOL_ROUTE_MIN_CONFIDENCE'],
    default: 0.55,
    doc: 'Confidence below which a transcript is marked as needing clarification.',
  },
  orchestratorMinConfidence: {
    type: share,
    env: ['SVC_SPEECH_ORCHESTRATOR_MIN_CONFIDENCE'],
    default: 0.45,
    doc: 'Confidence below which a task created from a transcript is marked as uncertain.',
  },
  chatMaxMessages: {
    type: raisedInFile(4),
    env: ['SVC_SPEECH_CHAT_MAX_MESSAGES'],
    default: 64,
    doc: 'Maximum number of chat messages to remember.',
  },
  routeMaxUserTurns: {
    type: raisedInFile(1),
    env: ['SVC_SPEECH_ROUTE_MAX_USER_TURNS'],
    default: 32,
    doc: 'Number of user turns after which a chat ends.',
  },
  routingSessionCap: {
    type: integer({min: 64, clamp: true}),
    env: ['SVC_SPEECH_ROUTING_SESSION_CAP'],
    default: 4096,
    doc: 'Maximum number of sessions that routing remembers.',
  },
  routingSessionTtlSecs: {
    type: integer({min: 60, clamp: true}),
    env: ['SVC_SPEECH_ROUTING_SESSION_TTL_SECS'],
    default: 86_400,
    doc: 'Time after which routing forgets a session, in seconds.',
  },
  llmRefinementDefault: {
    type: boolean('lenient'),
    env: ['SVC_SPEECH_LLM_REFINEMENT_DEFAULT'],
    default: false,
    doc: 'Let a language model polish transcripts unless a request overrides it.',
  },
  llmMinDetConfidence: {
    type: number(),
    env: ['SVC_SPEECH_LLM_MIN_CONFIDENCE'],
    default: 0.82,
    doc: 'Confidence from which on a transcript is not polished, unless it is much corrected or controls tools or tasks.',
  },
  llmMaxOutputTokens: {
    type: integer({min: 64, clamp: true}),
    env: ['SVC_SPEECH_LLM_MAX_OUTPUT_TOKENS'],
    default: 512,
    doc: 'Maximum number of tokens in the answer with a polished transcript.',
  },
  llmDeadlineMs: {
    type: milliseconds(1),
    env: ['SVC_SPEECH_LLM_DEADLINE_MS'],
    default: 5000,
    doc: 'Time after which the unpolished transcript is used, in milliseconds.',
  },
}))
