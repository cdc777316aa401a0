import type {Judgement, Questioning} from '../tasks/index.js'
import type {OperationContext} from './context.js'

/** The judgement of a chat, with the question that would improve its answer. */
export type ChatSocrates = (Judgement & {questioning: Questioning}) | {reason: 'no_evidence_context'}

/** How well the evidence of a session supports an answer; only a reason if the session has no evidence. */
export type Socrates = Judgement | {reason: 'no_evidence_context'}

/**
 * Judges the evidence in the current context envelope of a session.
 * @param sessions ids of sessions; the first with an envelope counts
 * @param question basis of a suggested query
 */
export function socratesOf(
  {modules, orchestrator}: Pick<OperationContext, 'modules' | 'orchestrator'>,
  sessions: readonly (string | undefined)[],
  question: string,
): Socrates {
  const {confidencePolicy} = modules.workspace
  const {evidenceOfSession, judgeEvidence} = modules.tasks
  for (const session of sessions) {
    const evidence = session === undefined ? undefined : evidenceOfSession(orchestrator, session.trim())
    if (evidence !== undefined)
      return judgeEvidence(evidence, confidencePolicy(orchestrator.config.socratesPolicy), question)
  }
  return {reason: 'no_evidence_context'}
}

/** Judges the evidence of a chat. A question that would help is only reported, not asked. */
export function chatSocratesOf(
  context: Pick<OperationContext, 'modules' | 'orchestrator'>,
  chat: {sessionId: string; message: string; isInline: boolean},
): ChatSocrates {
  const judgement = socratesOf(context, [chat.sessionId], chat.message)
  if ('reason' in judgement) return judgement
  const {modules, orchestrator} = context
  return {...judgement, questioning: modules.tasks.chatQuestioning(orchestrator, judgement, chat)}
}
