import type {Call} from '../history/history.js'
import {type Client, type ClientContext, callUntilAnswered, repeatUntilStopped} from './client-context.js'
import {createMember, type Member} from './member.js'
import {receivers} from './sender.js'

const acts = {quarantine: 3, maintenance: 2, window: 1, revoke: 3} as const

/** Quarantines and drains nodes, tries to use them meanwhile, and revokes leases. */
export const administrator: Client = async (context) => {
  const {random, who} = context
  const own = createMember(context, `${who}-node`)
  await own.join()
  await repeatUntilStopped(context, async () => {
    const act = random.weighted(acts)
    if (act === 'revoke') return revoke(context)
    const isOwn = random.chance(0.5)
    const node = isOwn ? own.id : someNode(context)
    if (act === 'quarantine') await quarantine(context, node, isOwn ? own : undefined)
    else await drain(context, node, act === 'window')
    await context.pause(random.integer(20, 150))
  })
  await heal(context)
}

/** Sends an admin request with the shared token or a single-use signed token, which is sometimes sent twice. */
async function command(
  context: ClientContext,
  operation: 'admin_quarantine' | 'admin_maintenance',
  body: object,
): Promise<Call> {
  const {random, call, who} = context
  const ask = {operation, body: {...body}} as const
  if (random.chance(0.7)) return callUntilAnswered(context, ask)
  const shown = {signed: {id: `${who}-${performance.now()}-${random.next()}`, isForeign: false}}
  const first = await call({...ask, shown})
  if (random.chance(0.4)) await call({...ask, shown})
  return first
}

async function quarantine(context: ClientContext, node: string, own: Member | undefined): Promise<void> {
  const on = await command(context, 'admin_quarantine', {node_id: node, quarantined: true})
  if (own !== undefined && on.status === 204) {
    // Leaving and joining again must not end the quarantine.
    if (context.random.chance(0.5)) await own.leave()
    if (context.random.chance(0.7)) await own.join()
  }
  await attempt(context, node)
  await command(context, 'admin_quarantine', {node_id: node, quarantined: false})
  if (own !== undefined) await own.join()
}

async function drain(context: ClientContext, node: string, isWindow: boolean): Promise<void> {
  const {random} = context
  const window = isWindow ? {maintenance_for_ms: random.integer(100, 600)} : {}
  await command(context, 'admin_maintenance', {node_id: node, maintenance: true, ...window})
  await attempt(context, node)
  if (!isWindow) await command(context, 'admin_maintenance', {node_id: node, maintenance: false})
}

/** Requests leases and messages for a banned node, which must be refused. */
async function attempt({random, call, pause}: ClientContext, node: string): Promise<void> {
  for (let left = random.integer(1, 4); left > 0; left--) {
    if (random.chance(0.5))
      await call({
        operation: 'exec_lease_grant',
        body: {claimer_node_id: node, scope_key: `task:${node}-${random.integer(1, 3)}`},
      })
    else await call({operation: 'a2a_inbox', body: {receiver_agent_id: random.pick(receivers), claimer_node_id: node}})
    await pause(random.integer(1, 20))
  }
}

async function revoke({random, call, shared}: ClientContext): Promise<void> {
  const list = await call({operation: 'exec_lease_list'})
  const leases = (list.body?.leases ?? []) as {lease_id: string}[]
  const lease = random.chance(0.7)
    ? leases[random.integer(0, leases.length - 1)]?.lease_id
    : shared.pickLease(random)?.lease
  if (lease !== undefined && random.chance(0.4))
    await call({operation: 'admin_exec_lease_revoke', body: {lease_id: lease}})
}

function someNode({shared, random}: ClientContext): string {
  const [first = 'nobody', ...others] = shared.nodes
  return random.pick([first, ...others])
}

/** Ends all quarantines and maintenance, so that pending messages can be processed at the end. */
async function heal({shared, call}: ClientContext): Promise<void> {
  for (const node of shared.nodes) {
    await call({operation: 'admin_quarantine', body: {node_id: node, quarantined: false}})
    await call({operation: 'admin_maintenance', body: {node_id: node, maintenance: false}})
  }
}
