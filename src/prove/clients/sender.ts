import {type Client, type ClientContext, callUntilAnswered, repeatUntilStopped} from './client-context.js'

/** Agents that receive messages. Each has readers. */
export const receivers: readonly [string, ...string[]] = ['1', '2', '3']

interface Keyed {
  receiver_agent_id: string
  idempotency_key: string
  payload: string
}

const kinds = {fresh: 8, unkeyed: 1, again: 2, changed: 1, oversize: 0.15} as const

/** Maximum number of remembered keys, which may be reused. */
const maxRemembered = 40

/** Delivers messages with idempotency keys, and repeats deliveries whose outcome is unknown. */
export const sender: Client = async (context) => {
  const {who, random, call, maxBodyBytes} = context
  const sent: Keyed[] = []
  let count = 0
  const fixed = {sender_agent_id: agentOf(who), message_type: 'free_form', priority: 128}

  const earlier = () => sent[random.integer(0, sent.length - 1)]

  await repeatUntilStopped(context, async () => {
    const kind = random.weighted(kinds)
    const known = earlier()
    if (kind === 'fresh' || known === undefined) {
      const receiver_agent_id = random.pick(receivers)
      const keyed = {receiver_agent_id, idempotency_key: `${who}-${++count}`, payload: payloadOf(context, count)}
      const call = await callUntilAnswered(context, {
        operation: 'a2a_deliver',
        body: {...fixed, ...keyed, priority: random.integer(0, 255)},
      })
      if (call.code === 'inbox_full') await context.pause(random.integer(50, 200))
      sent.push(keyed)
      if (sent.length > maxRemembered) sent.splice(random.integer(0, maxRemembered), 1)
    } else if (kind === 'again')
      await callUntilAnswered(context, {operation: 'a2a_deliver', body: {...fixed, ...known}})
    else if (kind === 'changed')
      await call({operation: 'a2a_deliver', body: {...fixed, ...known, payload: `${known.payload} changed`}})
    else if (kind === 'unkeyed') {
      const payload = payloadOf(context, ++count)
      await call({operation: 'a2a_deliver', body: {...fixed, receiver_agent_id: random.pick(receivers), payload}})
    } else {
      const args = {...fixed, receiver_agent_id: '1', idempotency_key: `${who}-huge-${++count}`, bytes: maxBodyBytes}
      await call({operation: 'a2a_deliver', body: {...args, payload: 'x'.repeat(maxBodyBytes)}, args})
    }
  })
}

/** Each sender has its own agent id, derived from the number in its name. */
const agentOf = (who: string) => `9${who.replace(/\D/g, '')}`

const payloadOf = ({who, random}: ClientContext, count: number) =>
  JSON.stringify({from: who, count, noise: random.integer(0, 1_000_000), text: 'ü🙂'.repeat(random.integer(0, 8))})
