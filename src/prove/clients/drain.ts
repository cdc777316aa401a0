import {type Call, messagesOf, type RunEvent} from '../history/history.js'
import {type ClientContext, callUntilAnswered} from './client-context.js'
import {createMember} from './member.js'

/** How long the last look into an inbox waits for messages, ms. */
const pollMs = 100
/** The same of looks before that, whose end nobody waits for, ms. */
const longPollMs = 1000
/** How much longer than it waits such a look may take, ms. */
const answerMs = 2000
const nodesPerAgent = 2
/** Messages that come without end are not waited for, ms. */
const longestMs = 60_000

/**
 * Nodes that do nothing wrong take all that waits. What was claimed by those who vanished comes back when their time is
 * over, which a disturbance just before may have put off by as much again.
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

/** @returns whether the last answer was that nothing is left */
async function drainOne(context: ClientContext, agent: string, node: string, until: number): Promise<boolean> {
  await callUntilAnswered(context, createMember(context, node).entry())
  for (;;) {
    const started = performance.now()
    const waitMs = Math.max(pollMs, Math.min(longPollMs, Math.ceil(until - started)))
    const inbox = await takeMessage(context, agent, node, waitMs)
    const isEmpty = inbox.status === 200 && messagesOf(inbox).length === 0
    if (isEmpty && started > until) return true
    if (started > until + longestMs || context.signal.aborted) return false
  }
}

/** Claims a message as a node, where one waits, and acknowledges it. @returns the answer to the claim */
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
