import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {SettingSources} from '../../../src/config/index.js'
import {meshSecretTexts, readMeshSecrets} from '../../../src/mesh/index.js'

const fileOf = (values: Record<string, string>): SettingSources['envFile'] => ({
  values,
  origins: Object.fromEntries(Object.keys(values).map((name) => [name, '/project/.svc/mesh/mesh.env'])),
  shadowed: [],
  warnings: [],
})

const variables = {
  SVC_MESH_TOKEN: 'a',
  SVC_MESH_WORKER_TOKEN: 'b',
  SVC_MESH_SUBMITTER_TOKEN: 'c',
  SVC_MESH_ADMIN_TOKEN: 'd',
  SVC_MESH_JWT_HMAC_SECRET: 'e',
  SVC_MESH_BOOTSTRAP_TOKEN: 'f',
  SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS: '1767225600000',
  SVC_MESH_WORKER_RESULT_VERIFY_KEY: '0'.repeat(64),
}

const secrets = {
  token: 'a',
  workerToken: 'b',
  submitterToken: 'c',
  adminToken: 'd',
  jwtHmacSecret: 'e',
  bootstrapToken: 'f',
  bootstrapExpiresUnixMs: 1767225600000,
  workerResultVerifyKey: '0'.repeat(64),
}

describe('readMeshSecrets', () => {
  it('reads the environment', () => {
    assert.deepEqual(readMeshSecrets({env: variables}), secrets)
  })

  it('reads the file for variables missing in the environment', () => {
    assert.deepEqual(readMeshSecrets({env: {SVC_MESH_TOKEN: ' '}, envFile: fileOf(variables)}), secrets)
    const {token, workerToken} = readMeshSecrets({env: {SVC_MESH_TOKEN: 'x'}, envFile: fileOf(variables)})
    assert.deepEqual([token, workerToken], ['x', 'b'])
  })

  const ends: readonly [what: string, sources: SettingSources, end: number | undefined][] = [
    ['no expiry', {env: {}}, undefined],
    ['a blank expiry', {env: {SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS: ' '}}, undefined],
    ['an expiry', {env: {SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS: '5'}}, 5],
    ['an unparsable expiry', {env: {SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS: 'tomorrow'}}, 0],
    ['a negative expiry', {env: {SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS: '-5'}}, 0],
    [
      'an unparsable expiry in the file',
      {env: {}, envFile: fileOf({SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS: '2026-01-01'})},
      0,
    ],
  ]
  for (const [what, sources, end] of ends)
    it(`reads ${what} as ${end}`, () => {
      assert.equal(readMeshSecrets(sources).bootstrapExpiresUnixMs, end)
    })

  it('lists the secret texts for redaction', () => {
    assert.deepEqual(meshSecretTexts({env: variables}).sort(), ['a', 'b', 'c', 'd', 'e', 'f'])
    assert.deepEqual(meshSecretTexts({env: {SVC_MESH_ADMIN_TOKEN: 'd'}}), ['d'])
  })

  it('ignores an invalid result key', () => {
    const env = {SVC_MESH_WORKER_RESULT_VERIFY_KEY: 'not a key'}
    assert.equal(readMeshSecrets({env}).workerResultVerifyKey, undefined)
  })
})
