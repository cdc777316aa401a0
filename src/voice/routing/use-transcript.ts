import type {speechSessionSettings, TableValues} from '../../config/index.js'
import {appendAsrRefinePair} from '../../speech/index.js'
import type {ModelMessage, ResolveModel} from '../polish/ask-model.js'
import {type Polished, type PolishOptions, polish} from '../polish/polish.js'
import type {Unpolished} from '../polish/request.js'
import type {RouteLimits, RouteMode} from './decide.js'
import type {EditorContext} from './editor-context.js'
import type {MemoryLimits} from './memory.js'
import type {OperationPorts, RouteResult, Router} from './router.js'

/** What happens to a transcript after it is recognised. */
export interface TranscriptUse {
  mode: RouteMode
  editor: EditorContext
  polish: Omit<PolishOptions, 'routeMode'>
  limits: RouteLimits & MemoryLimits
  /** Where the raw and the final text are recorded, if at all. */
  pairs?: PairsFile | undefined
}

/** File that receives raw and final texts as training data, as lines of JSON. */
export interface PairsFile {
  path: string
  /** Texts with less confidence are not recorded, 0 to 1. */
  minConfidence: number
  /** Called with the reason if a text is not recorded. */
  notice(text: string): void
}

export interface UsePorts extends OperationPorts {
  router: Router
  resolveModel: ResolveModel
}

export interface UsedTranscript extends RouteResult {
  polished: Polished
}

/** How transcripts of sessions are polished and routed. */
export const transcriptUse = (
  session: TableValues<typeof speechSessionSettings>,
): Pick<TranscriptUse, 'polish' | 'limits'> => ({
  polish: {
    enabled: session.llmRefinementDefault,
    minConfidence: session.llmMinDetConfidence,
    maxOutputTokens: session.llmMaxOutputTokens,
    deadlineMs: session.llmDeadlineMs,
  },
  limits: {
    toolMinConfidence: session.toolRouteMinConfidence,
    orchestratorMinConfidence: session.orchestratorMinConfidence,
    maxUserTurns: session.routeMaxUserTurns,
    chatMessages: session.chatMaxMessages,
    sessions: session.routingSessionCap,
    ttlMs: 1000 * session.routingSessionTtlSecs,
  },
})

/** Answers are read aloud or shown in one line of a terminal. */
const chatInstruction = 'You answer spoken messages. Answer briefly, in plain text.'

/**
 * Polishes a transcript, and records it with its final text if the use has a file for that. A failure of the model is
 * part of the result.
 * @throws disk_full, file_unwritable; the reason of the signal
 */
export async function polishTranscript(
  transcript: Unpolished,
  {mode, pairs, ...use}: Pick<TranscriptUse, 'mode' | 'pairs' | 'polish'>,
  resolveModel: ResolveModel,
  signal: AbortSignal,
): Promise<Polished> {
  const polished = await polish(transcript, {...use.polish, routeMode: mode}, resolveModel, signal)
  signal.throwIfAborted()
  if (pairs !== undefined && transcript.rawText.trim() !== '') await recordPair(transcript.rawText, polished, pairs)
  return polished
}

async function recordPair(raw: string, {text, confidence}: Polished, {path, minConfidence, notice}: PairsFile) {
  if (confidence >= minConfidence) return appendAsrRefinePair(path, {noisy_text: raw, corrected_text: text})
  notice(`The text is not recorded in ${path}: its confidence ${confidence} is less than ${minConfidence}.`)
}

/**
 * Routes a polished transcript. A failure of the model or of an operation is part of the result.
 * @throws the reason of the signal
 */
export function routeTranscript(
  sessionId: string,
  {text, confidence}: Pick<Polished, 'text' | 'confidence'>,
  {mode, editor, limits, ...use}: TranscriptUse,
  {router, resolveModel, ...ports}: UsePorts,
  signal: AbortSignal,
): Promise<RouteResult> {
  const chat = async (messages: readonly ModelMessage[], limited: AbortSignal) => {
    const ask = await resolveModel(limited)
    const parameters = {maxTokens: use.polish.maxOutputTokens, temperature: undefined, signal: limited}
    return ask([{role: 'system', content: chatInstruction}, ...messages], parameters)
  }
  const request = {mode, sessionId, transcript: text, confidence, editor}
  return router.route(request, {...ports, chat}, limits, signal)
}
