import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {readCredentials} from '../../../src/mesh/index.js'

const secrets = {token: 'a-token-of-the-mesh', workerToken: 'a-token-of-a-worker'}

describe('cached token of a connection', () => {
  it('is recognised on later requests', () => {
    const credentials = readCredentials(secrets)
    const connection = {}
    for (let n = 0; n < 3; n++) assert.equal(credentials.roleOf(secrets.workerToken, connection), 'worker')
  })

  it('does not match other tokens', () => {
    const credentials = readCredentials(secrets)
    const connection = {}
    assert.equal(credentials.roleOf(secrets.workerToken, connection), 'worker')
    for (const wrong of [
      'b-token-of-a-worker',
      'a-token-of-a-workes',
      'a-token-of-a-worke',
      'a-token-of-a-workerr',
      '',
    ])
      assert.equal(credentials.roleOf(wrong, connection), undefined, wrong)
    assert.equal(credentials.roleOf(secrets.workerToken, connection), 'worker')
  })

  it('is replaced by another valid token', () => {
    const credentials = readCredentials(secrets)
    const connection = {}
    const asked = [secrets.workerToken, secrets.token, secrets.token, secrets.workerToken]
    const roles = asked.map((token) => credentials.roleOf(token, connection))
    assert.deepEqual(roles, ['worker', 'mesh', 'mesh', 'worker'])
  })

  it('is not shared between connections', () => {
    const credentials = readCredentials(secrets)
    assert.equal(credentials.roleOf(secrets.workerToken, {}), 'worker')
    assert.equal(credentials.roleOf('b-token-of-a-worker', {}), undefined)
  })

  it('is invalid after a reload', () => {
    const connection = {}
    assert.equal(readCredentials(secrets).roleOf(secrets.workerToken, connection), 'worker')
    const replaced = readCredentials({token: secrets.token, workerToken: 'another-token-of-a-worker'})
    assert.equal(replaced.roleOf(secrets.workerToken, connection), undefined)
  })
})
