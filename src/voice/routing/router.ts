import {asCliError, SvcError} from '../../errors/index.js'
import type {ModelMessage} from '../polish/ask-model.js'
import {
  type Decision,
  decideRoute,
  type IntentEnvelope,
  type Route,
  type RouteEffect,
  type RouteLimits,
  type RouteMode,
} from './decide.js'
import type {EditorContext} from './editor-context.js'
import {type MemoryLimits, type RoutedSession, RoutingMemory, remember} from './memory.js'
import {gapQuestions, type SlotGap, slotGaps} from './slots.js'
import type {SpokenOperation} from './spoken-operation.js'

/** The operations that routes can use; the caller supplies them. */
export interface OperationPorts {
  readonly operations: readonly SpokenOperation[]
  /** Runs an operation. */
  run(name: string, input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown>
  /** Asks a person whether a change may be made; false if no one can be asked. */
  confirm(message: string, change: 'call' | 'generate' | 'submit'): Promise<boolean>
}

export interface RoutePorts extends OperationPorts {
  /** Asks the configured model. */
  chat(messages: readonly ModelMessage[], signal: AbortSignal): Promise<string>
}

export interface RoutedTranscript {
  mode: RouteMode
  sessionId: string
  transcript: string
  /** 0 to 1. */
  confidence: number
  editor: EditorContext
}

/** A completed route with what it means, as results contain it. */
export interface RouteResult {
  route: Route
  /** For tools: what the sentence asks for. */
  envelope: IntentEnvelope | undefined
  gaps: readonly SlotGap[]
  /** One short question for the first gap. */
  question: string | undefined
}

/** Routes the transcripts of all sessions of a process. */
export class Router {
  readonly #memory = new RoutingMemory()

  /**
   * Decides what a transcript is used for, and does it. A failure is part of the route.
   * @throws the reason of the signal
   */
  async route(
    request: RoutedTranscript,
    ports: RoutePorts,
    limits: RouteLimits & MemoryLimits,
    signal: AbortSignal,
  ): Promise<RouteResult> {
    const {mode, sessionId, transcript} = request
    const isRemembered = mode !== 'none' && transcript.trim() !== ''
    const session = isRemembered ? this.#memory.touch(sessionId, limits) : undefined
    const decision = decideRoute(
      {
        ...request,
        operations: ports.operations,
        previous: session?.lastTranscript,
        userTurns: (session?.userTurns ?? 0) + 1,
      },
      limits,
    )
    const {route, envelope} = decision
    const isDone = await perform(decision, {request, session, ports, limits, signal})
    // Something that failed or was not confirmed can be said again.
    if (session !== undefined && isDone) session.lastTranscript = transcript
    const intent = envelope?.action ?? 'none'
    const gaps = envelope === undefined || intent === 'operation' ? [] : slotGaps(intent, envelope)
    const [gap] = gaps
    return {route, envelope, gaps, question: gap === undefined ? undefined : gapQuestions[gap]}
  }
}

interface Situation {
  request: RoutedTranscript
  session: RoutedSession | undefined
  ports: RoutePorts
  limits: MemoryLimits
  signal: AbortSignal
}

/** Performs the effect of a decision, and completes its route. Returns false if it failed or was not confirmed. */
async function perform({route, effect}: Decision, situation: Situation): Promise<boolean> {
  if (effect === undefined) return true
  const {request, ports, signal} = situation
  if (!(await isConfirmed(effect, request.transcript, ports))) {
    if (effect.kind === 'submit') route.status = 'not_confirmed'
    const note = 'It changes something, so it needs a confirmation.'
    Object.assign(route.payload, {needs_confirmation: true, note, ...notQueued(effect)})
    return false
  }
  try {
    Object.assign(route.payload, await resultOf(effect, situation))
    if (effect.kind === 'call' || effect.kind === 'generate') route.status = 'executed'
    return true
  } catch (error) {
    signal.throwIfAborted()
    const {code, message} = asCliError(SvcError.from(error)).error
    route.status = failures[effect.kind]
    Object.assign(route.payload, {error: {code, message}, note: message, ...notQueued(effect)})
    return false
  }
}

const failures: Readonly<Record<RouteEffect['kind'], string>> = {
  status: 'tool_failed',
  call: 'tool_failed',
  generate: 'tool_failed',
  chat: 'chat_failed',
  submit: 'enqueue_failed',
}

/** Performs an effect; returns what it adds to the payload. */
async function resultOf(effect: RouteEffect, situation: Situation): Promise<object> {
  const {request, ports, signal} = situation
  const {transcript, editor} = request
  const run = async (name: string, input: object) => ({
    result: await ports.run(name, {...input}, signal),
    note: 'The operation was run.',
  })
  switch (effect.kind) {
    case 'status': {
      const {summary, engine} = (await ports.run('speech_status', {}, signal)) as {summary: string; engine: object}
      return {summary, engine}
    }
    case 'call':
      return run(effect.call.operation.name, effect.call.input)
    case 'generate':
      return run('generate_code', {prompt: promptFor(transcript, editor)})
    case 'chat':
      return answer(situation)
    case 'submit': {
      const task = (await ports.run('submit_task', {description: transcript}, signal)) as Record<string, unknown>
      return {task_id: task.task_id, display_id: task.display_id, task_status: task.status}
    }
  }
}

async function answer({request, session, ports, limits, signal}: Situation): Promise<object> {
  if (session === undefined) throw new TypeError('a chat without a session')
  const question: ModelMessage = {role: 'user', content: request.transcript}
  const asked = [...session.chat, question].slice(-limits.chatMessages)
  const response = await ports.chat(asked, signal)
  session.userTurns++
  remember(session, question, limits)
  remember(session, {role: 'assistant', content: response}, limits)
  return {response, turns: session.chat.length}
}

const promptFor = (transcript: string, {activeFile}: EditorContext): string =>
  activeFile === undefined ? transcript : `${transcript}\n\nThe open file is ${activeFile}.`

const notQueued = ({kind}: RouteEffect) => (kind === 'submit' ? {workflow_status: 'not_queued'} : {})

/** Asks before a change. Reading and chatting need no confirmation. */
async function isConfirmed(effect: RouteEffect, transcript: string, {confirm}: OperationPorts): Promise<boolean> {
  switch (effect.kind) {
    case 'submit':
      return confirm(`Submit the task "${transcript}"?`, 'submit')
    case 'generate':
      return confirm(`Generate code for "${transcript}"?`, 'generate')
    case 'call': {
      const {operation, input} = effect.call
      return operation.isRead || confirm(`Run ${operation.name} with ${JSON.stringify(input)}?`, 'call')
    }
    default:
      return true
  }
}
