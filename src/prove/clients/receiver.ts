import {messagesOf} from '../history/history.js'
import {type Client, type ClientContext, callUntilAnswered, repeatUntilStopped} from './client-context.js'
import {createMember} from './member.js'
import {receivers} from './sender.js'

/** Weights of what happens to a claimed message. */
const ends = {ack: 12, vanish: 1, sleep: 1} as const

interface Claimed {
  receiver_agent_id: string
  message_id: number
  claimer_node_id: string
}

/** Claims and acknowledges messages; sometimes vanishes, oversleeps, or uses claims of others. */
export const receiver: Client = async (context) => {
  const {who, random, call, shared} = context
  const member = createMember(context, who)
  await member.join()
  await repeatUntilStopped(context, async () => {
    if (random.chance(0.2)) await trespass(context)
    const agent = random.pick(receivers)
    const wait = random.chance(0.3) ? {wait_ms: random.integer(50, 300)} : {}
    const inbox = await call({
      operation: 'a2a_inbox',
      body: {receiver_agent_id: agent, claimer_node_id: who, ...wait},
    })
    if (inbox.code === 'unknown_node') await member.join()
    const [message] = messagesOf(inbox)
    if (message === undefined) return
    shared.addClaim({message: message.id, receiver: agent, holder: who})
    await work(context, {receiver_agent_id: agent, message_id: message.id, claimer_node_id: who})
  })
}

async function work(context: ClientContext, body: Claimed): Promise<void> {
  const {random, leaseMs, call} = context
  if (random.chance(0.4)) await context.pause(random.integer(1, Math.round(leaseMs / 16)))
  if (random.chance(0.2)) await call({operation: 'a2a_lease_renew', body: {...body}})
  const end = random.weighted(ends)
  if (end === 'vanish') return
  if (end === 'sleep') await context.pause(random.integer(Math.round(leaseMs / 2), leaseMs * 2))
  const acked = await callUntilAnswered(context, {operation: 'a2a_ack', body: {...body}})
  // Acknowledging twice must have no further effect.
  if (acked.status === 204 && random.chance(0.1)) await call({operation: 'a2a_ack', body: {...body}})
}

/** Tries to acknowledge or renew a message that another client has claimed. */
async function trespass({random, shared, call, who}: ClientContext): Promise<void> {
  const claim = shared.pickClaim(random)
  if (claim === undefined || claim.holder === who) return
  const operation = random.chance(0.7) ? 'a2a_ack' : 'a2a_lease_renew'
  const {message, receiver: agent} = claim
  await call({operation, body: {receiver_agent_id: agent, message_id: message, claimer_node_id: who}})
}
