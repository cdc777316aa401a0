import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type MeshOperation, type MeshTokens, routes} from '../../../src/mesh/index.js'
import {mayUse} from '../../../src/mesh/protocol/roles.js'
import {everyOperation, operationNames} from './support/every-operation.js'
import {reply, scriptedControlPlane} from './support/scripted-control-plane.js'

const all = {mesh: 'mesh-token', worker: 'worker-token', submitter: 'submitter-token', admin: 'admin-token'}
const secret = 'a secret that is longer than thirty-two bytes'

/** What is shown for an operation by who holds these tokens. */
async function shown(t: {after(work: () => unknown): void}, operation: MeshOperation, tokens: MeshTokens) {
  const {ask, answer} = everyOperation[operation]
  const plane = await scriptedControlPlane(t, (response) => reply(response, 200, answer))
  await ask(plane.connect({tokens}))
  return plane.asked[0]?.headers.authorization
}

/** What a token says that was made by a client. */
function claims(authorization: unknown): Record<string, unknown> {
  const [header = '', payload = ''] = String(authorization).replace('Bearer ', '').split('.')
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  assert.equal(read(header).alg, 'HS256')
  return read(payload)
}

/** By a route of each plane: which of the tokens is shown as the ones before it are taken away. */
const orders = [
  ['join', ['mesh', 'worker', 'admin']],
  ['a2a_inbox', ['mesh', 'worker', 'admin']],
  ['a2a_deliver', ['mesh', 'submitter', 'admin']],
  ['admin_quarantine', ['mesh', 'admin']],
] as const

describe('the token of a request', () => {
  for (const [operation, order] of orders)
    it(`is for ${operation} the first there is of ${order.join(', ')}`, async (t) => {
      const left: MeshTokens = {...all}
      for (const role of order) {
        assert.equal(await shown(t, operation, left), `Bearer ${all[role]}`)
        left[role] = '  '
      }
      assert.equal(await shown(t, operation, left), undefined)
    })

  it('is on no request that needs none', async (t) => {
    assert.equal(await shown(t, 'health', all), undefined)
  })

  it('is of a role that may, whichever tokens there are', async (t) => {
    for (const operation of operationNames.filter((name) => !['open', 'bootstrap'].includes(routes[name].plane)))
      for (const [role, token] of Object.entries(all)) {
        const may = (mayUse[routes[operation].plane] as readonly string[]).includes(role)
        const authorization = await shown(t, operation, {[role]: token})
        assert.equal(authorization, may ? `Bearer ${token}` : undefined, `${operation} as ${role}`)
      }
  })

  it('lets a node that holds a worker and a submitter do the work of both', async (t) => {
    const {worker, submitter} = all
    assert.equal(await shown(t, 'exec_lease_grant', {worker, submitter}), 'Bearer worker-token')
    assert.equal(await shown(t, 'a2a_deliver', {worker, submitter}), 'Bearer submitter-token')
  })

  for (const [operation, role] of [
    ['join', 'worker'],
    ['a2a_deliver', 'submitter'],
    ['exec_lease_list', 'admin'],
  ] as const)
    it(`is made for ${operation} with the role ${role}, where there is only the key for it`, async (t) => {
      const tokens = {jwtHmacSecret: secret, nodeId: 'node-a', scope: 'scope-a'}
      const made = claims(await shown(t, operation, tokens))
      assert.deepEqual([made.role, made.sub, made.scp, made.aud], [role, 'node-a', 'scope-a', 'svc-mesh'])
      assert.equal(Number(made.exp) - Number(made.iat), 60)
      assert.notEqual(claims(await shown(t, operation, tokens)).jti, made.jti, 'each request has one of its own')
      const unbound = claims(await shown(t, operation, {jwtHmacSecret: secret}))
      assert.deepEqual([unbound.role, unbound.sub, unbound.scp], [role, undefined, undefined])
    })

  it('is another one where a request is sent again: a control plane may take one once', async (t) => {
    const plane = await scriptedControlPlane(t, (response, _asked, count) =>
      count === 1 ? reply(response, 503) : reply(response, 200, {leases: []}),
    )
    await plane.connect({tokens: {jwtHmacSecret: secret}, random: () => 0}).listLeases()
    const ids = plane.asked.map(({headers}) => claims(headers.authorization).jti)
    assert.equal(new Set(ids).size, 2)
  })
})
