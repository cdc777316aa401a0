import type {OrchAttentionV1} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {type AttentionCounts, readState, writeState} from '../base/state.js'
import {appendEvent} from '../events/event-log.js'
import {focusDepth, spentRatio} from './cost.js'
import type {AttentionState} from './decide.js'

export type AttentionEvent = OrchAttentionV1['events'][number]
export type AttentionBudget = OrchAttentionV1['budget']

/** Number of attention events to keep. */
const maxEvents = 100
const hourMs = 3_600_000

/** Minimum time between two interruptions in their frequency: answers in a burst count as one per minute. */
const minGapMs = 60_000

const unused: AttentionCounts = {
  spent_ms: 0,
  total_requests: 0,
  auto_approved: 0,
  rejected: 0,
  inbox_suppressed_count: 0,
  interrupt_freq_per_hour: 0,
  last_interrupt_ms: 0,
  period_start_ms: 0,
}

/** Start of the local day, Unix ms. */
const midnightBefore = (ms: number): number => new Date(ms).setHours(0, 0, 0, 0)

/** The counts without those of the period; the frequency of interruptions continues. */
const restarted = (counts: AttentionCounts, now: number): AttentionCounts => ({
  ...unused,
  interrupt_freq_per_hour: counts.interrupt_freq_per_hour,
  last_interrupt_ms: counts.last_interrupt_ms,
  period_start_ms: now,
})

const storedCounts = (context: WorkspaceContext): AttentionCounts => readState(context, 'attention_budget') ?? unused

const isOver = ({period_start_ms: start}: AttentionCounts, now: number): boolean => start < midnightBefore(now)

/** The counts since the last reset or local midnight. */
function currentCounts(context: WorkspaceContext): AttentionCounts {
  const counts = storedCounts(context)
  return isOver(counts, context.now()) ? restarted(counts, midnightBefore(context.now())) : counts
}

/** The attention budget of the user. */
export function attentionBudget(context: WorkspaceContext): AttentionBudget {
  const {attentionEnabled: enabled, attentionBudgetMs: max, attentionAlertThreshold: alert} = context.config
  const counts = currentCounts(context)
  const ratio = spentRatio(counts.spent_ms, max)
  return {
    enabled,
    max_attention_ms: max,
    spent_ratio: ratio,
    signal: ratio >= 1 ? 'critical' : ratio > alert ? 'high' : 'normal',
    focus_depth: focusDepth(counts.interrupt_freq_per_hour),
    efficiency: counts.total_requests === 0 ? 1 : Math.max(0, 1 - counts.rejected / counts.total_requests),
    ...counts,
  }
}

/** Attention that was taken in this period, which limits clarifications; 0 while it is not counted. */
export const clarificationMs = (context: WorkspaceContext): number =>
  context.config.attentionEnabled ? currentCounts(context).spent_ms : 0

/** What decisions about interruptions depend on. */
export function attentionState(context: WorkspaceContext): AttentionState {
  const {config} = context
  const {enabled, spent_ratio, focus_depth} = attentionBudget(context)
  return {
    enabled,
    spent_ratio,
    alert_threshold: config.attentionAlertThreshold,
    focus: focus_depth,
    base_interrupt_cost_ms: config.attentionInterruptCostMs,
    calibration: config.interruptionCalibration,
  }
}

/** Refuses work of agents while the attention of the user is used up. @throws attention_exhausted */
export function requireAttention(context: WorkspaceContext): void {
  if (!context.config.attentionEnabled) return
  const {spent_ratio, spent_ms, max_attention_ms} = attentionBudget(context)
  if (spent_ratio >= 1) throw new SvcError('attention_exhausted', {spentMs: spent_ms, maxMs: max_attention_ms})
}

/** Counters that an event increments. */
export type Counter = 'total_requests' | 'auto_approved' | 'rejected' | 'inbox_suppressed_count'

/** Records an event, in a transaction of the caller, and charges its cost. An event with a cost is an interruption. */
export function recordAttention(
  context: WorkspaceContext,
  event: Omit<AttentionEvent, 'timestamp_ms'>,
  counters: readonly Counter[] = [],
): void {
  const {store, repositoryId, now, config} = context
  const at = now()
  const stored = storedCounts(context)
  if (stored.period_start_ms > 0 && isOver(stored, at)) emitReset(context, stored, 'midnight')
  const before = currentCounts(context)
  const after = {...before, spent_ms: before.spent_ms + event.cost_ms}
  for (const counter of counters) after[counter]++
  if (event.cost_ms > 0) Object.assign(after, interrupted(before, at))
  writeState(context, 'attention_budget', after)
  store.run('INSERT INTO orch_attention_events (repository_id, event) VALUES (?, ?)', [
    repositoryId,
    JSON.stringify({...event, timestamp_ms: at}),
  ])
  store.run(
    `DELETE FROM orch_attention_events WHERE repository_id = @repository AND id NOT IN (
  SELECT id FROM orch_attention_events WHERE repository_id = @repository ORDER BY id DESC LIMIT ${maxEvents})`,
    {repository: repositoryId},
  )
  const {attentionBudgetMs: max, attentionAlertThreshold: threshold} = config
  const isAlert = ({spent_ms}: AttentionCounts) => spentRatio(spent_ms, max) > threshold
  if (isAlert(after) && !isAlert(before))
    appendEvent(context, {
      type: 'attention_budget_alert',
      ...(event.agent_id === undefined ? {} : {agent_id: event.agent_id}),
      threshold,
      spent_ms: after.spent_ms,
      max_ms: max,
    })
}

/** Moving average of interruptions per hour. */
function interrupted({last_interrupt_ms: last, interrupt_freq_per_hour: average}: AttentionCounts, at: number) {
  const frequency = hourMs / Math.max(minGapMs, at - last)
  return {
    last_interrupt_ms: at,
    interrupt_freq_per_hour: last === 0 ? average : 0.2 * frequency + 0.8 * average,
  }
}

/** Restarts the budget by hand. */
export function resetAttention(context: WorkspaceContext): AttentionBudget {
  return context.store.transaction(() => {
    const counts = storedCounts(context)
    writeState(context, 'attention_budget', restarted(counts, context.now()))
    emitReset(context, counts, 'user')
    return attentionBudget(context)
  })
}

const emitReset = (context: WorkspaceContext, {spent_ms}: AttentionCounts, cause: 'midnight' | 'user'): number =>
  appendEvent(context, {type: 'attention_budget_reset', spent_ms, cause})

/** The latest attention events, newest first. @param hours only those of the last hours */
export const attentionHistory = ({store, repositoryId, now}: WorkspaceContext, hours = 24): AttentionEvent[] =>
  store
    .all<{event: string}>('SELECT event FROM orch_attention_events WHERE repository_id = ? ORDER BY id DESC LIMIT ?', [
      repositoryId,
      maxEvents,
    ])
    .map(({event}) => JSON.parse(event) as AttentionEvent)
    .filter(({timestamp_ms: at}) => at >= now() - hours * hourMs)
