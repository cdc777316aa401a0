import {withoutUndefined} from '../../contracts/index.js'
import type {Priority, WorkspaceContext} from '../../workspace/index.js'
import type {ApprovalTier} from '../base/task.js'
import {type AgentTrust, agentTrust} from './agent-trust.js'
import {attentionBudget, attentionState, recordAttention} from './budget.js'
import {attentionWeight} from './cost.js'
import {decideInterruption} from './decide.js'
import {isPersonNeeded, measures, outcomeOf, recordOf} from './interrupt.js'
import {submitSignals} from './submit-signals.js'
import {approvalTier, hasApprovalMarker, tierWithMarker} from './tier.js'

/** The parts of a task that the attention of the user depends on. */
interface Subject {
  description: string
  priority: Priority
  complexity: number
  /** Number of files that the task lists. */
  files: number
  /** Number of files that it writes. */
  writes: number
  agent: {id: number; name: string}
}

/** The result of a review. @property parked why a person must approve the task before it starts */
export interface SubmissionReview {
  weight: number
  tier?: ApprovalTier
  parked?: string
  /** Records the review once the task has an id. */
  record(taskId: number): void
}

/** Who submitted a task. The words of a person need no approval. */
export type Submitter = 'person' | 'agent'

/** Decides whether a new task needs a person before it starts. Undefined if attention is off. */
export function reviewSubmission(
  context: WorkspaceContext,
  subject: Subject,
  submitter: Submitter,
): SubmissionReview | undefined {
  const {config} = context
  if (!config.attentionEnabled) return undefined
  const standing = agentTrust(context, subject.agent.name)
  const weight = weightOf(context, subject, standing.trust)
  if (submitter === 'person') return {weight, record: () => {}}
  const tier = tierWithMarker(approvalTier({...subject, ...standing}, config), subject.description)
  const {signals, decision} = decide(context, subject, standing)
  const needsPerson = isPersonNeeded(decision) && !hasApprovalMarker(subject.description)
  const parked = tier === 'blocked' ? 'approval_tier_blocked' : needsPerson ? decision.reason : undefined
  const record = (taskId: number) => {
    const {type = 'task_submission', counters} = outcomeOf(decision)
    const isAutomatic = parked === undefined && tier === 'auto_approve'
    recordAttention(
      context,
      {
        agent_id: subject.agent.id,
        task_id: taskId,
        event_type: parked === undefined ? type : 'task_submission',
        tier,
        cost_ms: 0,
        ...(isAutomatic ? {outcome: 'auto_approved' as const} : {}),
        ...measures(subject, standing),
        channel: signals.channel,
        policy_reason: parked ?? decision.reason,
        decision: recordOf(context, 'svc_submit_task', signals, decision),
      },
      ['total_requests', ...(isAutomatic ? ['auto_approved' as const] : []), ...(parked === undefined ? counters : [])],
    )
  }
  return {weight, tier, ...withoutUndefined({parked}), record}
}

/** Charges the attention of a person who approves or rejects a task. */
export function recordVerdict(
  context: WorkspaceContext,
  subject: Subject & {id: number; tier: ApprovalTier | undefined},
  outcome: 'approved' | 'rejected',
): void {
  if (!context.config.attentionEnabled) return
  const standing = agentTrust(context, subject.agent.name)
  const {decision} = decide(context, subject, standing)
  recordAttention(
    context,
    {
      agent_id: subject.agent.id,
      task_id: subject.id,
      event_type: 'command_approval',
      ...withoutUndefined({tier: subject.tier}),
      cost_ms: decision.scaled_cost_ms,
      outcome,
      ...measures(subject, standing),
    },
    outcome === 'rejected' ? ['rejected'] : [],
  )
}

function decide(context: WorkspaceContext, {description, priority, writes}: Subject, {trust}: AgentTrust) {
  const backlog = countTasks(context, 'BlockedOnApproval')
  const signals = submitSignals({description, priority, writes, backlog, trust})
  return {signals, decision: decideInterruption(signals, attentionState(context))}
}

/** Tokens of a description: four characters each, and a number per listed file. */
const tokensPerFile = 200
const tokensOf = ({description, files}: Subject) => description.length / 4 + tokensPerFile * files

function weightOf(context: WorkspaceContext, subject: Subject, trust: number): number {
  const {rejected} = attentionBudget(context)
  const {complexity, priority} = subject
  const concurrent = countTasks(context, 'InProgress') + 1
  return attentionWeight(
    {complexity, outputTokens: tokensOf(subject), priority, rejected, trust, concurrent},
    context.config.attentionTlxWeights,
  )
}

const countTasks = ({store, repositoryId}: WorkspaceContext, status: string): number =>
  store.get<{n: number}>('SELECT count(*) AS n FROM orch_tasks WHERE repository_id = ? AND status = ?', [
    repositoryId,
    status,
  ])?.n ?? 0
