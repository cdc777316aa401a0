import assert from 'node:assert/strict'
import {once} from 'node:events'
import {request} from 'node:https'
import {connect} from 'node:net'
import {text} from 'node:stream/consumers'
import {describe, it} from 'node:test'
import {setImmediate as nextTurn, setTimeout as sleep} from 'node:timers/promises'
import type {TLSSocket} from 'node:tls'
import {isErrorOf, SvcError} from '../../../src/errors/index.js'
import {readCredentials} from '../../../src/mesh/control-plane/auth/credentials.js'
import {purgeRegularly} from '../../../src/mesh/control-plane/purge.js'
import {freePort} from '../../../src/net/index.js'
import {selfSigned} from '../../support/self-signed.js'
import {timeoutMs, until} from '../../support/until.js'
import {ask} from './support/ask.js'
import {startPlane, waiting} from './support/control-plane.js'
import {message, record} from './support/samples.js'
import {secrets, tokenOf} from './support/tokens.js'

describe('control plane without secrets', () => {
  it('refuses a non-loopback address', async (t) => {
    await assert.rejects(startPlane(t, {address: {host: '0.0.0.0', port: 0}}), (error) =>
      isErrorOf(error, 'mesh_unprotected'),
    )
  })

  it('accepts a non-loopback address with isInsecure', async (t) => {
    const plane = await startPlane(t, {address: {host: '0.0.0.0', port: 0}, isInsecure: true})
    const at = {baseUrl: `http://127.0.0.1:${plane.port}`}
    assert.equal((await ask(at, 'GET', '/v1/mesh/nodes', {headers: {host: 'gpu-box.example'}})).status, 200)
  })

  it('accepts a non-loopback address with any secret', async (t) => {
    for (const given of [{workerToken: 'token-of-a-worker'}, {jwtHmacSecret: secrets.jwtHmacSecret}]) {
      const plane = await startPlane(t, {address: {host: '0.0.0.0', port: 0}, secrets: given})
      const at = {baseUrl: `http://127.0.0.1:${plane.port}`}
      assert.equal((await ask(at, 'GET', '/v1/mesh/nodes', {headers: {host: 'gpu-box.example'}})).status, 401)
    }
  })
})

describe('reload', () => {
  it('replaces the secrets for the next request', async (t) => {
    const plane = await startPlane(t, {secrets})
    const list = async (token: string) => (await ask(plane, 'GET', '/v1/mesh/nodes', {token})).status
    assert.equal(await list(tokenOf.worker), 200)
    plane.reload(readCredentials({...secrets, workerToken: 'another-token-of-a-worker', adminToken: undefined}))
    assert.deepEqual(
      [
        await list(tokenOf.worker),
        await list('another-token-of-a-worker'),
        await list(tokenOf.admin),
        await list(tokenOf.mesh),
      ],
      [401, 200, 401, 200],
    )
  })

  it('refuses to remove all secrets on a non-loopback address', async (t) => {
    const plane = await startPlane(t, {address: {host: '0.0.0.0', port: 0}, secrets})
    assert.throws(
      () => plane.reload(readCredentials({})),
      (error) => isErrorOf(error, 'mesh_unprotected'),
    )
    const at = {baseUrl: `http://127.0.0.1:${plane.port}`}
    assert.equal((await ask(at, 'GET', '/v1/mesh/nodes')).status, 401)
  })

  it('ends only the long polls whose secret was replaced', async (t) => {
    const plane = await startPlane(t, {secrets, safetyMs: 60_000})
    for (const id of ['n-1', 'n-2'])
      await ask(plane, 'POST', '/v1/mesh/join', {token: tokenOf.worker, body: record(id)})
    const poll = (token: string, node: string) => {
      const body = {receiver_agent_id: '2', claimer_node_id: node, wait_ms: 15_000}
      return ask(plane, 'POST', '/v1/mesh/a2a/inbox', {token, body})
    }
    const old = poll(tokenOf.worker, 'n-1')
    const kept = poll(tokenOf.mesh, 'n-2')
    await waiting(plane, 2, tokenOf.mesh)
    plane.reload(readCredentials({...secrets, workerToken: 'another-token-of-a-worker'}))
    const {status, body} = await old
    assert.deepEqual([status, body.code], [401, 'unauthorized'])
    await ask(plane, 'POST', '/v1/mesh/a2a/deliver', {token: tokenOf.mesh, body: message()})
    assert.equal((await kept).body.messages.length, 1)
  })
})

describe('close', () => {
  it('completes running requests, even with keep-alive, then closes the store', async (t) => {
    const plane = await startPlane(t)
    const held = connect(plane.port, '127.0.0.1')
    let received = ''
    const admitted = new Promise<void>((resolve) => {
      held.on('data', (chunk) => {
        received += chunk
        resolve()
      })
    })
    const body = JSON.stringify(record('n-1'))
    held.write(
      `POST /v1/mesh/join HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`,
    )
    await admitted
    const closed = plane.close(10_000)
    held.write(body)
    await closed
    assert.match(received, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/)
    await assert.rejects(plane.store.join('', record('n-2') as never))
    await assert.rejects(ask(plane, 'GET', '/health'))
  })

  it('waits up to the drain timeout', async (t) => {
    const plane = await startPlane(t)
    const held = connect(plane.port, '127.0.0.1').on('error', () => {})
    held.write(
      'POST /v1/mesh/join HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 99\r\nexpect: 100-continue\r\n\r\n{',
    )
    await once(held, 'data')
    const begun = performance.now()
    await plane.close(200)
    const took = performance.now() - begun
    assert.ok(took >= 199 && took < timeoutMs, `${took} ms`)
  })

  it('releases the database, even if the start failed', async (t) => {
    const address = {host: '127.0.0.1', port: await freePort()}
    const plane = await startPlane(t, {address})
    await assert.rejects(startPlane(t, {address}), (error) => isErrorOf(error, 'port_in_use'))
    await plane.close(0)
    assert.equal((await startPlane(t, {address})).port, address.port)
  })
})

describe('control plane with TLS', () => {
  const speak = (port: number, ca: string, options: object = {}) =>
    new Promise<{status: number | undefined; body: string; protocol: string | null}>((resolve, reject) => {
      request({host: '127.0.0.1', port, path: '/v1/mesh/nodes', ca, agent: false, ...options}, async (response) => {
        const {statusCode: status, socket} = response
        const protocol = (socket as TLSSocket).getProtocol()
        resolve({status, body: await text(response), protocol})
      })
        .on('error', reject)
        .end()
    })

  it('uses TLS 1.3', async (t) => {
    const {cert, key} = selfSigned()
    const plane = await startPlane(t, {tls: {cert, key, minVersion: '1.3'}})
    assert.match(plane.baseUrl, /^https:\/\/127\.0\.0\.1:\d+$/)
    const answer = await speak(plane.port, cert)
    assert.deepEqual([answer.status, answer.protocol], [200, 'TLSv1.3'])
    assert.equal(JSON.parse(answer.body).schema_version, 1)
    await assert.rejects(speak(plane.port, cert, {maxVersion: 'TLSv1.2'}))
    await assert.rejects(ask({baseUrl: `http://127.0.0.1:${plane.port}`}, 'GET', '/health'))
  })

  it('uses TLS 1.2 if permitted', async (t) => {
    const {cert, key} = selfSigned()
    const plane = await startPlane(t, {tls: {cert, key, minVersion: '1.2'}})
    assert.equal((await speak(plane.port, cert, {maxVersion: 'TLSv1.2'})).protocol, 'TLSv1.2')
  })

  it('does not start if key and certificate do not match', async (t) => {
    const tls = {cert: selfSigned().cert, key: selfSigned().key, minVersion: '1.3'} as const
    await assert.rejects(startPlane(t, {tls}), (error) => {
      assert.ok(isErrorOf(error, 'tls_unusable'))
      assert.doesNotMatch(error.message, /BEGIN/)
      return true
    })
  })
})

it('limits the body to the configured size', async (t) => {
  const plane = await startPlane(t, {maxBodyBytes: 4096})
  const join = async (length: number) =>
    (await ask(plane, 'POST', '/v1/mesh/join', {body: record('n-1', {ignored: 'x'.repeat(length)})})).status
  assert.deepEqual([await join(3000), await join(4096)], [200, 413])
})

describe('purge', () => {
  it('runs once per minute in sequential steps', async (t) => {
    t.mock.timers.enable({apis: ['setInterval']})
    let parts = 5
    let running = 0
    const end = purgeRegularly({
      async purge() {
        assert.equal(++running, 1)
        await Promise.resolve()
        running--
        return --parts > 0
      },
    })
    t.mock.timers.tick(59_999)
    assert.equal(parts, 5)
    t.mock.timers.tick(1)
    await until(() => parts === 0, 'no part is left')
    parts = 2
    end()
    t.mock.timers.tick(120_000)
    await sleep(20)
    assert.equal(parts, 2)
  })

  it('runs again after an error', async (t) => {
    t.mock.timers.enable({apis: ['setInterval']})
    let tries = 0
    const end = purgeRegularly({
      async purge() {
        tries++
        throw new SvcError('store_unavailable', {reason: 'its disk is full'})
      },
    })
    for (const expected of [1, 2]) {
      t.mock.timers.tick(60_000)
      await until(() => tries >= expected, `try ${expected}`)
      assert.equal(tries, expected)
      // The error is logged in the same event-loop iteration, before the next attempt.
      await nextTurn()
    }
    end()
  })
})
