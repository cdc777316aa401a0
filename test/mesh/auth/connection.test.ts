import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {readCredentials} from '../../../src/mesh/index.js'

const secrets = {token: 'a-token-of-the-mesh', workerToken: 'a-token-of-a-worker'}

describe('a connection that has shown a token', () => {
  it('is known by it again, request after request', () => {
    const credentials = readCredentials(secrets)
    const connection = {}
    for (let n = 0; n < 3; n++) assert.equal(credentials.roleOf(secrets.workerToken, connection), 'worker')
  })

  it('is nobody with any other, and itself with the right one after that', () => {
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

  it('has the role of each token that it shows', () => {
    const credentials = readCredentials(secrets)
    const connection = {}
    const asked = [secrets.workerToken, secrets.token, secrets.token, secrets.workerToken]
    const roles = asked.map((token) => credentials.roleOf(token, connection))
    assert.deepEqual(roles, ['worker', 'mesh', 'mesh', 'worker'])
  })

  it('lends it to no other connection', () => {
    const credentials = readCredentials(secrets)
    assert.equal(credentials.roleOf(secrets.workerToken, {}), 'worker')
    assert.equal(credentials.roleOf('b-token-of-a-worker', {}), undefined)
  })

  it('is nobody when the secrets have been replaced', () => {
    const connection = {}
    assert.equal(readCredentials(secrets).roleOf(secrets.workerToken, connection), 'worker')
    const replaced = readCredentials({token: secrets.token, workerToken: 'another-token-of-a-worker'})
    assert.equal(replaced.roleOf(secrets.workerToken, connection), undefined)
  })
})
