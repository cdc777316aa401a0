import type {OperationContext} from '../operations/index.js'
import type {FinishedUtterance} from '../speech/index.js'
import type {Polished, ResolveModel, RouteResult, TranscriptUse, Unpolished} from '../voice/index.js'
import {clarifyRoute} from './spoken-route.js'

/** Uses the text of a session. */
export interface Conversation {
  polish(transcript: Unpolished): Promise<Polished>
  route(sessionId: string, polished: Pick<Polished, 'text' | 'confidence'>): Promise<RouteResult>
}

export interface ConversationOptions {
  use: TranscriptUse
  /** Whether something is changed only after a question. */
  confirms: boolean
  ask(question: string): Promise<string | undefined>
  /** Opens the workspace, when an operation is called. */
  operations(): Promise<OperationContext>
  resolveModel: ResolveModel
}

/** Uses what a person says at a terminal. */
export async function openConversation({
  use,
  confirms,
  ask,
  operations,
  resolveModel,
}: ConversationOptions): Promise<Conversation> {
  const {polishTranscript, Router, routeTranscript, spokenPorts} = await import('../voice/index.js')
  const {typedDecision} = await import('../contracts/index.js')
  const confirm = async (question: string) => !confirms || typedDecision(await ask(`${question} [y/N] `)) === true
  const ports = {...spokenPorts(operations, confirm), router: new Router(), resolveModel}
  // After an interruption, the last utterance is still used.
  const {signal} = new AbortController()
  return {
    polish: (transcript) => polishTranscript(transcript, use, resolveModel, signal),
    route: async (sessionId, polished) => {
      const routed = await routeTranscript(sessionId, polished, use, ports, signal)
      return {...routed, route: await clarifyRoute(routed.route, ask)}
    },
  }
}

/** An utterance before the configured model corrects it. */
export const unpolished = ({event, file}: FinishedUtterance): Unpolished => ({
  rawText: event.raw_text,
  refinedText: event.refined_text,
  confidence: event.confidence,
  trace: file?.finished.trace ?? [],
})
