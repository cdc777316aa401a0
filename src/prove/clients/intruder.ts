import {type MeshOperation, routes} from '../../mesh/index.js'
import type {Credential} from '../history/history.js'
import {type Client, repeatUntilStopped} from './client-context.js'

const roles: readonly [Credential['role'], ...Credential['role'][]] = [
  'none',
  'garbage',
  'worker',
  'submitter',
  'admin',
  'mesh',
  'bootstrap',
]

/** Request bodies that would change data if they were admitted. */
const bodies: Readonly<Partial<Record<MeshOperation, object>>> = {
  join: {id: 'intruder', version: '0', capabilities: {}},
  heartbeat: {id: 'intruder'},
  leave: {id: 'intruder'},
  exec_lease_grant: {claimer_node_id: 'intruder', scope_key: 'task:stolen'},
  exec_lease_renew: {claimer_node_id: 'intruder', lease_id: '1'},
  exec_lease_release: {claimer_node_id: 'intruder', lease_id: '1'},
  exec_lease_verify: {lease_id: '1', scope_key: 'task:stolen'},
  admin_exec_lease_revoke: {lease_id: '1'},
  admin_quarantine: {node_id: 'intruder', quarantined: true},
  admin_maintenance: {node_id: 'intruder', maintenance: true},
  admin_store_promote: {skip_tokens: 1_000_000},
  a2a_deliver: {sender_agent_id: '66', receiver_agent_id: '66', message_type: 'free_form', payload: 'stolen'},
  a2a_inbox: {receiver_agent_id: '66'},
  a2a_ack: {receiver_agent_id: '66', message_id: 1},
  a2a_lease_renew: {receiver_agent_id: '66', message_id: 1, claimer_node_id: 'intruder'},
}

/** Excludes the bootstrap exchange: its failed attempts are limited, and the newcomer needs them. */
const operations = (Object.keys(routes) as MeshOperation[]).filter((name) => name !== 'bootstrap_exchange')

/** Tries every route with every token, including retired ones and those of another scope. */
export const intruder: Client = async (context) => {
  const {random, call, scope, maxBodyBytes, who} = context
  await repeatUntilStopped(context, async () => {
    const [first = 'health', ...others] = operations
    const operation = random.pick([first, ...others])
    const body = {...bodies[operation]}
    const inScope = operation === 'join' || operation === 'heartbeat' ? {scope_id: scope} : {}
    switch (random.weighted({role: 8, foreign: 1, signed: 1, oversize: 0.3})) {
      case 'role':
        await call({
          operation,
          body: {...body, ...inScope},
          shown: {role: random.pick(roles), ...(random.chance(0.3) ? {generation: 0} : {})},
        })
        break
      case 'foreign':
        await call({operation: 'join', body: {...bodies.join, id: 'foreigner', scope_id: `${scope}-other`}})
        break
      case 'signed':
        await call({operation, body, shown: {role: 'worker', signed: {id: `${who}-${random.next()}`, isForeign: true}}})
        break
      case 'oversize': {
        const args = {id: 'huge', scope_id: scope, version: '0', bytes: maxBodyBytes}
        const capabilities = {hostname: 'x'.repeat(maxBodyBytes)}
        await call({operation: 'join', args, body: {...args, capabilities}})
      }
    }
    await context.pause(random.integer(0, 40))
  })
}
