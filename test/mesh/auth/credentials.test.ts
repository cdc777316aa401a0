import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {inspect} from 'node:util'
import {SvcError} from '../../../src/errors/index.js'
import {type MeshSecrets, readCredentials} from '../../../src/mesh/index.js'
import {noon} from './token-store.js'

const secrets = {
  token: 'canary-token-of-mesh',
  workerToken: 'canary-token-of-worker',
  submitterToken: 'canary-token-of-submitter',
  adminToken: 'canary-token-of-admin',
  jwtHmacSecret: 'canary-hmac-secret-of-32-bytes-and-more',
  bootstrapToken: 'canary-token-of-bootstrap',
} satisfies MeshSecrets

const variables = {
  token: 'SVC_MESH_TOKEN',
  workerToken: 'SVC_MESH_WORKER_TOKEN',
  submitterToken: 'SVC_MESH_SUBMITTER_TOKEN',
  adminToken: 'SVC_MESH_ADMIN_TOKEN',
  jwtHmacSecret: 'SVC_MESH_JWT_HMAC_SECRET',
  bootstrapToken: 'SVC_MESH_BOOTSTRAP_TOKEN',
}

function refusal(given: MeshSecrets): SvcError {
  try {
    readCredentials(given)
  } catch (error) {
    if (error instanceof SvcError) return error
    throw error
  }
  assert.fail('it was taken')
}

describe('readCredentials', () => {
  const roles: readonly [string, string | undefined][] = [
    [secrets.token, 'mesh'],
    [secrets.workerToken, 'worker'],
    [secrets.submitterToken, 'submitter'],
    [secrets.adminToken, 'admin'],
    [secrets.bootstrapToken, undefined],
    [secrets.jwtHmacSecret, undefined],
    ['canary-token-of-mesh ', undefined],
    ['canary-token-of-mes', undefined],
    ['CANARY-TOKEN-OF-MESH', undefined],
    ['', undefined],
  ]
  for (const [token, role] of roles)
    it(`maps "${token}" to ${role ?? 'no role'}`, () => {
      assert.equal(readCredentials(secrets).roleOf(token), role)
    })

  const names = Object.keys(variables) as (keyof typeof variables)[]
  const pairs = names.flatMap((first, i) => names.slice(i + 1).map((second) => [first, second] as const))
  for (const [first, second] of pairs)
    it(`refuses equal ${variables[first]} and ${variables[second]} without showing them`, () => {
      const error = refusal({
        ...secrets,
        [first]: 'canary-the-same-text-in-two-variables',
        [second]: 'canary-the-same-text-in-two-variables',
      })
      assert.equal(error.code, 'mesh_tokens_equal')
      assert.match(error.message, new RegExp(`${variables[first]}.*${variables[second]}`))
      assert.doesNotMatch(inspect(error), /canary/)
    })

  const lengths: readonly [string, number, boolean][] = [
    ['a'.repeat(31), 31, true],
    ['a'.repeat(32), 32, false],
    ['é'.repeat(15), 30, true],
    ['é'.repeat(16), 32, false],
  ]
  for (const [jwtHmacSecret, bytes, weak] of lengths)
    it(`${weak ? 'refuses' : 'accepts'} a key of ${bytes} bytes, ${jwtHmacSecret.length} characters`, () => {
      if (weak) assert.equal(refusal({jwtHmacSecret}).code, 'mesh_secret_weak')
      else assert.ok(readCredentials({jwtHmacSecret}).jwtKey)
    })

  for (const name of ['token', 'workerToken', 'submitterToken', 'adminToken', 'bootstrapToken'] as const)
    it(`refuses 15 characters in ${variables[name]} without showing them, and accepts 16`, () => {
      for (const short of ['canary-of-15-ch', 'é'.repeat(15), 'x']) {
        const error = refusal({...secrets, [name]: short})
        assert.equal(error.code, 'mesh_secret_weak')
        assert.match(error.message, new RegExp(`^${variables[name]} is shorter than 16 characters\\.$`))
        assert.doesNotMatch(inspect(error), /canary/)
      }
      assert.equal(readCredentials({...secrets, [name]: 'canary-of-16-chr'}).isOpen, false)
    })

  const openness: readonly [MeshSecrets, boolean][] = [
    [{}, true],
    [{token: '', workerToken: undefined}, true],
    [{workerResultVerifyKey: '0'.repeat(64)}, true],
    [{bootstrapExpiresUnixMs: noon}, true],
    ...names.map((name): [MeshSecrets, boolean] => [{[name]: secrets[name]}, false]),
    [{bootstrapToken: secrets.bootstrapToken, bootstrapExpiresUnixMs: 1}, false],
  ]
  for (const [given, isOpen] of openness)
    it(`${isOpen ? 'is open' : 'is not open'} with ${JSON.stringify(Object.keys(given))}`, () => {
      assert.equal(readCredentials(given).isOpen, isOpen)
    })

  const ends: readonly [number | undefined, boolean][] = [
    [undefined, true],
    [noon + 1, true],
    [noon, false],
    [noon - 1, false],
    [0, false],
  ]
  for (const [end, isThere] of ends)
    it(`${isThere ? 'accepts' : 'ignores'} a bootstrap token that ${end === undefined ? 'never expires' : `expires in ${end - noon} ms`}`, () => {
      const {bootstrap} = readCredentials({...secrets, bootstrapExpiresUnixMs: end}, noon)
      assert.equal(bootstrap !== undefined, isThere)
    })

  it('does not reveal secrets when printed', () => {
    const credentials = readCredentials(secrets)
    for (const printed of [
      JSON.stringify(credentials),
      inspect(credentials, {depth: 9, showHidden: true}),
      `${credentials}`,
    ])
      assert.doesNotMatch(printed, /canary/)
  })
})
