import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type MeshOperation, type MeshTokens, routes} from '../../../src/mesh/index.js'
import {mayUse} from '../../../src/mesh/protocol/roles.js'
import {everyOperation, operationNames} from './support/every-operation.js'
import {reply, scriptedControlPlane} from './support/scripted-control-plane.js'

const all = {mesh: 'mesh-token', worker: 'worker-token', submitter: 'submitter-token', admin: 'admin-token'}
const secret = 'a secret that is longer than thirty-two bytes'

/** Token chosen for an operation. */
async function shown(t: {after(work: () => unknown): void}, operation: MeshOperation, tokens: MeshTokens) {
  const {ask, answer} = everyOperation[operation]
  const plane = await scriptedControlPlane(t, (response) => reply(response, 200, answer))
  await ask(plane.connect({tokens}))
  return plane.asked[0]?.headers.authorization
}

/** Claims of a signed token. */
function claims(authorization: unknown): Record<string, unknown> {
  const [header = '', payload = ''] = String(authorization).replace('Bearer ', '').split('.')
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  assert.equal(read(header).alg, 'HS256')
  return read(payload)
}

/** Order of preference of the tokens, by a route of each plane. */
const orders = [
  ['join', ['mesh', 'worker', 'admin']],
  ['a2a_inbox', ['mesh', 'worker', 'admin']],
  ['a2a_deliver', ['mesh', 'submitter', 'admin']],
  ['admin_quarantine', ['mesh', 'admin']],
] as const

describe('chooseToken', () => {
  for (const [operation, order] of orders)
    it(`uses the first set token of ${order.join(', ')} for ${operation}`, async (t) => {
      const left: MeshTokens = {...all}
      for (const role of order) {
        assert.equal(await shown(t, operation, left), `Bearer ${all[role]}`)
        left[role] = '  '
      }
      assert.equal(await shown(t, operation, left), undefined)
    })

  it('sends no token to open routes', async (t) => {
    assert.equal(await shown(t, 'health', all), undefined)
  })

  it('always chooses a role that permits the operation', async (t) => {
    for (const operation of operationNames.filter((name) => !['open', 'bootstrap'].includes(routes[name].plane)))
      for (const [role, token] of Object.entries(all)) {
        const may = (mayUse[routes[operation].plane] as readonly string[]).includes(role)
        const authorization = await shown(t, operation, {[role]: token})
        assert.equal(authorization, may ? `Bearer ${token}` : undefined, `${operation} as ${role}`)
      }
  })

  it('chooses between worker and submitter tokens per request', async (t) => {
    const {worker, submitter} = all
    assert.equal(await shown(t, 'exec_lease_grant', {worker, submitter}), 'Bearer worker-token')
    assert.equal(await shown(t, 'a2a_deliver', {worker, submitter}), 'Bearer submitter-token')
  })

  for (const [operation, role] of [
    ['join', 'worker'],
    ['a2a_deliver', 'submitter'],
    ['exec_lease_list', 'admin'],
  ] as const)
    it(`signs a token with the role ${role} for ${operation} if only the key is set`, async (t) => {
      const tokens = {jwtHmacSecret: secret, nodeId: 'node-a', scope: 'scope-a'}
      const made = claims(await shown(t, operation, tokens))
      assert.deepEqual([made.role, made.sub, made.scp, made.aud], [role, 'node-a', 'scope-a', 'svc-mesh'])
      assert.equal(Number(made.exp) - Number(made.iat), 60)
      assert.notEqual(claims(await shown(t, operation, tokens)).jti, made.jti, 'each request has one of its own')
      const unbound = claims(await shown(t, operation, {jwtHmacSecret: secret}))
      assert.deepEqual([unbound.role, unbound.sub, unbound.scp], [role, undefined, undefined])
    })

  it('signs a new token for each retry', async (t) => {
    const plane = await scriptedControlPlane(t, (response, _asked, count) =>
      count === 1 ? reply(response, 503) : reply(response, 200, {leases: []}),
    )
    await plane.connect({tokens: {jwtHmacSecret: secret}, random: () => 0}).listLeases()
    const ids = plane.asked.map(({headers}) => claims(headers.authorization).jti)
    assert.equal(new Set(ids).size, 2)
  })
})
