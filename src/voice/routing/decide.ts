import {fourDecimals} from '../../speech/index.js'
import type {EditorContext} from './editor-context.js'
import {findIntent, type Intent, tokensOf} from './intent.js'
import {readSlots, type Slots} from './slots.js'
import {findSpokenCall, type SpokenCall, type SpokenOperation} from './spoken-operation.js'

export type RouteMode = 'none' | 'tool' | 'chat' | 'orchestrator'

/** What a transcript was used for. */
export interface Route {
  mode: RouteMode | 'clarify'
  action: string
  status: string
  payload: Record<string, unknown>
}

/** A transcript, and what is known where it was spoken. */
export interface RouteRequest {
  mode: RouteMode
  sessionId: string
  transcript: string
  /** 0 to 1. */
  confidence: number
  editor: EditorContext
  /** Operations that can be called by name. */
  operations: readonly SpokenOperation[]
  /** The previous transcript of the session. */
  previous: string | undefined
  /** Chat turns of the user in this session, with this one. */
  userTurns: number
}

export interface RouteLimits {
  toolMinConfidence: number
  orchestratorMinConfidence: number
  maxUserTurns: number
}

/** What is done to complete a route. */
export type RouteEffect =
  | {kind: 'status'}
  | {kind: 'call'; call: SpokenCall}
  | {kind: 'generate'}
  | {kind: 'chat'}
  | {kind: 'submit'}

/** The route of a transcript before its effect is performed. */
export interface Decision {
  route: Route
  effect?: RouteEffect
  /** For tools: what the sentence asks for. */
  envelope?: IntentEnvelope
}

export interface IntentEnvelope extends Slots {
  action: Intent | 'operation'
  intent_confidence: number
  transcript_confidence: number
  transcript: string
}

/** Mean of both confidences below which a stronger model or a person should be asked. */
const escalationBelow = 0.48

const actions: Readonly<Record<Intent, string>> = {
  speech_status: 'speech.status',
  code_create: 'speech.intent.code_create',
  code_edit: 'speech.intent.code_edit',
  explain_code: 'speech.intent.explain_code',
  run_check: 'speech.intent.run_check',
  none: 'none',
}

const nothing = (status: string, note: string, payload: object = {}): Decision => ({
  route: {mode: 'none', action: 'none', status, payload: {...payload, note}},
})

/** Decides what a transcript is used for, without doing it. */
export function decideRoute(request: RouteRequest, limits: RouteLimits): Decision {
  const {mode, transcript, previous} = request
  const text = transcript.trim()
  if (mode === 'none') return nothing('no_route', 'Routing is off.')
  if (text === '') return nothing('no_op_empty_transcript', 'Nothing was said.')
  if (text === previous?.trim())
    return nothing('repetition_breaker', 'The same text was just routed; it is not routed again.')
  if (mode === 'tool') return decideTool(request, limits)
  return mode === 'chat' ? decideChat(request, limits) : decideTask(request, limits)
}

function decideTool(request: RouteRequest, limits: RouteLimits): Decision {
  const {transcript, editor} = request
  const confidence = clamp(request.confidence)
  const min = clamp(limits.toolMinConfidence)
  if (confidence < min)
    return nothing('below_tool_confidence', 'The transcript is too uncertain for a tool.', {
      transcript_confidence: fourDecimals(confidence),
      min_confidence: min,
    })
  const call = findSpokenCall(transcript, request.operations)
  const found = call === undefined ? findIntent(transcript, editor) : {intent: 'none' as const, ...call}
  const {intent} = found
  if (intent === 'code_edit' && tokensOf(transcript).includes('fix') && editor.recentErrors.length > 1)
    return clarify(editor.recentErrors)
  const intentConfidence = clamp(found.confidence)
  const blended = (confidence + intentConfidence) / 2
  const isFound = call !== undefined || intent !== 'none'
  if (isFound && blended < min)
    return nothing('below_blended_tool_confidence', 'What the transcript asks for is too uncertain for a tool.', {
      blended_confidence: fourDecimals(blended),
      min_confidence: min,
    })
  const measures = {
    intent_confidence: fourDecimals(intentConfidence),
    blended_confidence: fourDecimals(blended),
    transcript_confidence: fourDecimals(confidence),
    speech_escalation_recommended: blended < escalationBelow,
  }
  const {blended_confidence: _, ...unmatched} = measures
  if (!isFound)
    return {
      route: {mode: 'tool', action: 'none', status: 'no_match', payload: {...unmatched, note: 'No tool matches.'}},
    }
  return {
    ...toolRoute(request, call ?? intent, measures),
    envelope: {
      action: call === undefined ? intent : 'operation',
      intent_confidence: fourDecimals(intentConfidence),
      transcript_confidence: fourDecimals(confidence),
      transcript,
      ...readSlots(transcript, editor),
    },
  }
}

/** The route of a call by name, or of an intent. */
function toolRoute(
  {transcript}: RouteRequest,
  target: SpokenCall | Intent,
  measures: object,
): Pick<Decision, 'route' | 'effect'> {
  const matched = (action: string, payload: object, effect?: RouteEffect) => ({
    route: {
      mode: 'tool' as const,
      action,
      status: 'intent_matched',
      payload: {...payload, transcript, ...measures, note: 'Nothing was done yet.'},
    },
    ...(effect === undefined ? {} : {effect}),
  })
  if (typeof target !== 'string') {
    const {operation, input} = target
    const action = `speech.operation.${operation.name}`
    return matched(action, {operation: operation.name, input}, {kind: 'call', call: target})
  }
  const action = actions[target]
  if (target === 'speech_status')
    return {
      route: {mode: 'tool', action, status: 'executed', payload: {...measures, note: 'The status of speech.'}},
      effect: {kind: 'status'},
    }
  return matched(action, {intent: action}, target === 'code_create' ? {kind: 'generate'} : undefined)
}

const clarify = (errors: readonly string[]): Decision => ({
  route: {
    mode: 'clarify',
    action: 'speech.clarify.multiple_errors',
    status: 'ambiguous_target',
    payload: {
      message: 'There are several errors. Which one should be fixed?',
      options: [...errors],
      note: 'Choose one of the options.',
    },
  },
})

function decideChat({sessionId, userTurns}: RouteRequest, {maxUserTurns}: RouteLimits): Decision {
  const max = Math.max(1, maxUserTurns)
  if (userTurns > max)
    return nothing('guard_max_user_turns', 'The chat has reached its maximum number of turns.', {
      user_turns: userTurns,
      max_user_turns: max,
    })
  return {
    route: {
      mode: 'chat',
      action: 'chat.turn',
      status: 'executed',
      payload: {session_id: sessionId, user_turn: userTurns, note: 'The model has answered.'},
    },
    effect: {kind: 'chat'},
  }
}

function decideTask({sessionId, transcript, confidence}: RouteRequest, limits: RouteLimits): Decision {
  const min = clamp(limits.orchestratorMinConfidence)
  const isLow = clamp(confidence) < min
  return {
    route: {
      mode: 'orchestrator',
      action: 'orchestrator.enqueue',
      status: isLow ? 'queued_low_confidence' : 'queued',
      payload: {
        session_id: sessionId,
        intent_text: transcript,
        workflow_status: 'queued',
        transcript_confidence: fourDecimals(clamp(confidence)),
        orchestrator_min_confidence: min,
        note: isLow ? 'A task was submitted from an uncertain transcript.' : 'A task was submitted.',
      },
    },
    effect: {kind: 'submit'},
  }
}

const clamp = (value: number) => Math.max(0, Math.min(1, value))
