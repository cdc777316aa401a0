import {type Call, messagesOf, type RunEvent} from '../history/history.js'
import {type ClientContext, callUntilAnswered} from './client-context.js'
import {createMember} from './member.js'

/** Wait of the last inbox poll, ms. */
const pollMs = 100
/** Maximum wait of earlier polls, ms. */
const longPollMs = 1000
/** Response timeout of a poll in addition to its wait, ms. */
const answerMs = 2000
const nodesPerAgent = 2
/** Limit if an inbox never becomes empty, ms. */
const maxMs = 60_000

/**
 * Claims and acknowledges all pending messages. Claims of nodes that vanished expire after the lease duration, which a
 * disturbance may have extended by another lease duration.
 */
export async function drain(context: ClientContext, agents: readonly string[]): Promise<RunEvent> {
  const at = performance.now()
  const graceMs = 2 * context.leaseMs + 2 * pollMs
  const lanes = agents.flatMap((agent) =>
    Array.from({length: nodesPerAgent}, (_, lane) => drainOne(context, agent, `drain-${agent}-${lane}`, at + graceMs)),
  )
  const drained = await Promise.all(lanes)
  return {event: 'drain', at, until: performance.now(), isAnswered: drained.every(Boolean)}
}

/** @returns true if the inbox was empty in the end */
async function drainOne(context: ClientContext, agent: string, node: string, until: number): Promise<boolean> {
  await callUntilAnswered(context, createMember(context, node).entry())
  for (;;) {
    const started = performance.now()
    const waitMs = Math.max(pollMs, Math.min(longPollMs, Math.ceil(until - started)))
    const inbox = await takeMessage(context, agent, node, waitMs)
    const isEmpty = inbox.status === 200 && messagesOf(inbox).length === 0
    if (isEmpty && started > until) return true
    if (started > until + maxMs || context.signal.aborted) return false
  }
}

/** Claims a pending message as a node and acknowledges it. @returns the claim call */
export async function takeMessage(context: ClientContext, agent: string, node: string, waitMs = 0): Promise<Call> {
  const inbox = await callUntilAnswered(context, {
    operation: 'a2a_inbox',
    body: {receiver_agent_id: agent, claimer_node_id: node, ...(waitMs > 0 ? {wait_ms: waitMs} : {})},
    ...(waitMs > 0 ? {timeoutMs: waitMs + answerMs} : {}),
  })
  for (const {id} of messagesOf(inbox).slice(0, 1)) {
    const body = {receiver_agent_id: agent, message_id: id, claimer_node_id: node}
    await callUntilAnswered(context, {operation: 'a2a_ack', body})
  }
  return inbox
}
