import {sectionSettings} from '../setting.js'
import {boolean, integer, number, type SettingType} from '../types.js'

/** In a file a smaller number counts as the least one; in a variable it is refused. */
const raisedInFile = (min: number): SettingType<number> => ({
  ...integer({min}),
  accept: integer({min, clamp: true}).accept,
})

const share = number({min: 0, max: 1, clamp: true})

/** How long a speech session may take, and what becomes of its transcript. */
export const speechSessionSettings = sectionSettings('speech', () => ({
  captureTimeoutMs: {
    type: integer({min: 0}),
    env: ['SVC_SPEECH_CAPTURE_TIMEOUT_MS'],
    default: 12_000,
    planned: true,
    doc: 'Milliseconds that a session waits for speech.',
  },
  maxDurationMs: {
    type: integer({min: 0}),
    env: ['SVC_SPEECH_MAX_DURATION_MS'],
    default: 120_000,
    planned: true,
    doc: 'Milliseconds that a session may take, no less than its wait for speech.',
  },
  inferenceDeadlineMs: {
    type: integer({min: 0}),
    env: ['SVC_SPEECH_INFERENCE_DEADLINE_MS'],
    default: 0,
    planned: true,
    doc: 'Milliseconds that recognition may take; 0 takes those of the whole session.',
  },
  heartbeatMs: {
    type: integer({min: 0}),
    env: ['SVC_SPEECH_HEARTBEAT_MS'],
    default: 3000,
    planned: true,
    doc: 'Milliseconds between two signs of life of a waiting session.',
  },
  toolRouteMinConfidence: {
    type: share,
    env: ['SVC_SPEECH_TOOL_ROUTE_MIN_CONFIDENCE'],
    default: 0.55,
    doc: 'Confidence below which a transcript calls no tool.',
  },
  orchestratorMinConfidence: {
    type: share,
    env: ['SVC_SPEECH_ORCHESTRATOR_MIN_CONFIDENCE'],
    default: 0.45,
    planned: true,
    doc: 'Confidence below which a task made of a transcript is marked as uncertain.',
  },
  chatMaxMessages: {
    type: raisedInFile(4),
    env: ['SVC_SPEECH_CHAT_MAX_MESSAGES'],
    default: 64,
    planned: true,
    doc: 'Messages of a chat that are remembered.',
  },
  routeMaxUserTurns: {
    type: raisedInFile(1),
    env: ['SVC_SPEECH_ROUTE_MAX_USER_TURNS'],
    default: 32,
    planned: true,
    doc: 'Turns of the user after which a chat ends.',
  },
  routingSessionCap: {
    type: integer({min: 64, clamp: true}),
    env: ['SVC_SPEECH_ROUTING_SESSION_CAP'],
    default: 4096,
    planned: true,
    doc: 'Sessions that routing remembers.',
  },
  routingSessionTtlSecs: {
    type: integer({min: 60, clamp: true}),
    env: ['SVC_SPEECH_ROUTING_SESSION_TTL_SECS'],
    default: 86_400,
    planned: true,
    doc: 'Seconds after which routing forgets a session.',
  },
  llmRefinementDefault: {
    type: boolean('lenient'),
    env: ['SVC_SPEECH_LLM_REFINEMENT_DEFAULT'],
    default: false,
    planned: true,
    doc: 'Let a language model polish transcripts unless a request says otherwise.',
  },
  llmMinDetConfidence: {
    type: number(),
    env: ['SVC_SPEECH_LLM_MIN_CONFIDENCE'],
    default: 0.82,
    planned: true,
    doc: 'Confidence from which a transcript needs no polish.',
  },
  llmMaxOutputTokens: {
    type: integer({min: 64, clamp: true}),
    env: ['SVC_SPEECH_LLM_MAX_OUTPUT_TOKENS'],
    default: 512,
    planned: true,
    doc: 'Most tokens of a polished transcript.',
  },
}))
