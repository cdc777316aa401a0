import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {ask} from './support/ask.js'
import {startPlane} from './support/control-plane.js'
import {secrets, tokenOf, tokenOfOwnWords} from './support/tokens.js'

const nodes = '/v1/mesh/nodes'

describe('single-use token', () => {
  it('can be reused after a rate-limited request', async (t) => {
    const plane = await startPlane(t, {secrets, rate: {perSecond: 0.2, burst: 1}})
    const token = tokenOfOwnWords('admin')
    assert.equal((await ask(plane, 'GET', nodes, {token: tokenOfOwnWords('admin')})).status, 200)
    const limited = await ask(plane, 'GET', nodes, {token})
    assert.equal(limited.status, 429)
    await sleep(Number(limited.headers['retry-after']) * 1000)
    assert.equal((await ask(plane, 'GET', nodes, {token})).status, 200)
  })

  it('can be reused after an overload, but not after success', async (t) => {
    const plane = await startPlane(t, {secrets})
    const token = tokenOfOwnWords('mesh')
    plane.trouble.depth = 8001
    assert.equal((await ask(plane, 'GET', nodes, {token})).status, 503)
    plane.trouble.depth = undefined
    assert.equal((await ask(plane, 'GET', nodes, {token})).status, 200)
    assert.equal((await ask(plane, 'GET', nodes, {token})).body.code, 'token_replayed')
  })

  it('is accepted for one of many concurrent requests', async (t) => {
    const plane = await startPlane(t, {secrets})
    const token = tokenOfOwnWords('admin')
    const answers = await Promise.all(Array.from({length: 10}, () => ask(plane, 'GET', nodes, {token})))
    assert.deepEqual(answers.map(({status}) => status).sort(), [200, ...Array(9).fill(401)])
  })
})

describe('refused requests', () => {
  const strangers: readonly [who: string, token: string | undefined, status: number][] = [
    ['without a token', undefined, 401],
    ['with an unknown token', 'a-token-of-nobody-at-all', 401],
    ['with a JWT of another key', `${tokenOfOwnWords('mesh')}x`, 401],
    ['with a token that may not do this', tokenOf.submitter, 403],
  ]
  for (const [who, token, status] of strangers)
    it(`are rate-limited (${who}) without affecting other clients`, async (t) => {
      const plane = await startPlane(t, {secrets, rate: {perSecond: 0.01, burst: 2}})
      const statuses: number[] = []
      for (let i = 0; i < 4; i++) statuses.push((await ask(plane, 'GET', nodes, {token})).status)
      assert.deepEqual(statuses, [status, status, 429, 429])
      const {headers} = await ask(plane, 'GET', nodes, {token})
      assert.ok(Number(headers['retry-after']) > 50)
      assert.equal((await ask(plane, 'GET', nodes, {token: tokenOf.worker})).status, 200)
    })
})
