import type {Call} from '../history/history.js'
import {type Client, type ClientContext, callUntilAnswered, repeatUntilStopped} from './client-context.js'
import {createMember} from './member.js'

/** Keys shared by all lease workers: few, so that they change hands often. */
const keys: readonly [string, ...string[]] = ['task:a', 'task:b', 'task:c', 'task:d']

interface Held {
  lease_id: string
  claimer_node_id: string
}

/** Weights of the ways in which a holder stops. */
const ends = {release: 10, vanish: 1, sleep: 1.5, leave: 0.5} as const

/** Acquires, renews and releases leases; sometimes vanishes, oversleeps, or uses leases of others. */
export const leaseWorker: Client = async (context) => {
  const {who, random, call, shared} = context
  const member = createMember(context, who)
  await member.join()
  await repeatUntilStopped(context, async () => {
    if (random.chance(0.25)) await trespass(context)
    const scopeKey = random.pick(keys)
    const isSigned = random.chance(0.05)
    const granted = await call({
      operation: 'exec_lease_grant',
      body: {claimer_node_id: who, scope_key: scopeKey},
      ...(isSigned ? {node: who, shown: {signed: {id: `${who}-${performance.now()}`, isForeign: false}}} : {}),
    })
    if (granted.code === 'unknown_node') await member.join()
    const {lease_id} = granted.body ?? {}
    if (granted.status !== 200 || typeof lease_id !== 'string') return
    shared.addLease({lease: lease_id, scopeKey, holder: who})
    await hold(context, {lease_id, claimer_node_id: who}, granted, scopeKey)
    await end(context, {lease_id, claimer_node_id: who}, member.leave)
    if (random.chance(0.2)) await call({operation: 'exec_lease_renew', body: {lease_id, claimer_node_id: who}})
  })
}

/** Renews the lease a few times, and never acts after its own deadline. */
async function hold(context: ClientContext, body: Held, granted: Call, scopeKey: string): Promise<void> {
  const {random, leaseMs, call} = context
  let until = granted.sent + leaseMs
  for (let left = random.integer(0, 3); left > 0 && !context.signal.aborted; left--) {
    await context.pause(random.integer(5, Math.round(leaseMs / 10)))
    if (performance.now() >= until) return
    if (random.chance(0.2))
      await call({operation: 'exec_lease_verify', body: {lease_id: body.lease_id, scope_key: scopeKey}})
    const renewed = await call({operation: 'exec_lease_renew', body: {...body}})
    if (renewed.status === 204) until = renewed.sent + leaseMs
    else if (renewed.status !== undefined && renewed.status < 500) return
  }
}

async function end(context: ClientContext, body: Held, leave: () => Promise<Call>): Promise<void> {
  const {random, leaseMs, call} = context
  switch (random.weighted(ends)) {
    case 'release':
      await callUntilAnswered(context, {operation: 'exec_lease_release', body: {...body}})
      return
    case 'sleep':
      // Like a suspended process, it does not notice how long it slept.
      await context.pause(random.integer(Math.round(leaseMs / 2), leaseMs * 2))
      await call({operation: 'exec_lease_renew', body: {...body}})
      await call({operation: 'exec_lease_release', body: {...body}})
      return
    case 'leave':
      await leave()
      return
    case 'vanish':
  }
}

/** Tries to renew or release a lease of another client, or one that does not exist. */
async function trespass({random, shared, call, who}: ClientContext): Promise<void> {
  const lease = random.chance(0.8) ? shared.pickLease(random)?.lease : String(random.integer(10 ** 9, 10 ** 10))
  if (lease === undefined) return
  const operation = random.chance(0.6) ? 'exec_lease_renew' : 'exec_lease_release'
  await call({operation, body: {lease_id: lease, claimer_node_id: who}})
}
