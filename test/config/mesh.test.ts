import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {inspect} from 'node:util'
import {
  meshNodeSettings,
  meshSecretSettings,
  meshServerSettings,
  resolveSettings,
  type SettingTable,
} from '../../src/config/index.js'

type Reading = readonly [words: string, value: unknown]

interface Variable {
  setting: string
  default: unknown
  reads: readonly Reading[]
  /** Values that are ignored with a warning. */
  refuses?: readonly string[]
}

const tables: readonly SettingTable[] = [meshSecretSettings, meshNodeSettings, meshServerSettings]

const words = (setting: string, fallback?: string): Variable => ({
  setting,
  default: fallback,
  reads: [[' as it is ', 'as it is']],
})

/** A boolean of type `flag`. */
const flag = (setting: string): Variable => ({
  setting,
  default: false,
  reads: [
    ['1', true],
    ['True', true],
    ['0', false],
    ['off', false],
  ],
  refuses: ['yes', 'banana'],
})

const lenient = (setting: string, fallback: boolean): Variable => ({
  setting,
  default: fallback,
  reads: [
    ['yes', true],
    ['1', true],
    ['off', false],
    ['0', false],
  ],
  refuses: ['maybe'],
})

/** A number with a range; values out of range are ignored. */
const whole = (setting: string, fallback: number | undefined, min: number, max?: number): Variable => ({
  setting,
  default: fallback,
  reads: [[String(min), min], ...(max === undefined ? [] : [[String(max), max] as const])],
  refuses: [String(min - 1), ...(max === undefined ? [] : [String(max + 1)]), '1.5', 'many'],
})

/** A number with a range; values out of range are clamped. */
const clamped = (setting: string, fallback: number, min: number, max: number): Variable => ({
  setting,
  default: fallback,
  reads: [
    [String(min - 1), min],
    [String(min), min],
    [String(max), max],
    [String(max + 1), max],
  ],
  refuses: ['-1', 'many'],
})

const variables: Readonly<Record<string, Variable>> = {
  SVC_MESH_WORKER_TOKEN: words('worker_token'),
  SVC_MESH_SUBMITTER_TOKEN: words('submitter_token'),
  SVC_MESH_ADMIN_TOKEN: words('admin_token'),
  SVC_MESH_JWT_HMAC_SECRET: words('jwt_hmac_secret'),
  SVC_MESH_SECRETBOX_KEY: words('secretbox_key'),
  SVC_MESH_BOOTSTRAP_TOKEN: words('bootstrap_token'),
  SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS: whole('bootstrap_expires_unix_ms', undefined, 0),
  SVC_MESH_WORKER_RESULT_VERIFY_KEY: {
    setting: 'worker_result_verify_key',
    default: undefined,
    reads: [
      [`${'0aF'.repeat(21)}0`, `${'0aF'.repeat(21)}0`],
      [`${'Az+/'.repeat(10)}abc=`, `${'Az+/'.repeat(10)}abc=`],
    ],
    refuses: ['a key', '0'.repeat(63), '0'.repeat(65), 'A'.repeat(44)],
  },
  SVC_MESH_ENABLED: flag('enabled'),
  SVC_MESH_NODE_ID: words('node_id'),
  SVC_MESH_VISIBILITY: {
    setting: 'visibility',
    default: undefined,
    reads: [
      ['private', 'private'],
      ['Hybrid', 'hybrid'],
      ['public', 'public'],
    ],
    refuses: ['secret'],
  },
  SVC_MESH_REGISTRY_PATH: words('registry_path'),
  SVC_MESH_HTTP_JOIN: lenient('http_join', true),
  SVC_MESH_HTTP_HEARTBEAT_SECS: whole('heartbeat_secs', 30, 0, 86_400),
  SVC_MESH_HTTP_RETRY_TRANSIENT: lenient('retry_transient', true),
  SVC_MESH_CODEX_TELEMETRY: flag('codex_telemetry'),
  SVC_MESH_HOST: words('host', '127.0.0.1'),
  SVC_MESH_PORT: whole('port', 9847, 0, 65_535),
  SVC_MESH_DB_PATH: words('db_path'),
  SVC_MESH_STORE_URL: words('store_url'),
  SVC_MESH_A2A_LEASE_MS: clamped('lease_ms', 120_000, 1000, 3_600_000),
  SVC_MESH_A2A_MAX_MESSAGES: clamped('max_messages', 50_000, 1, 500_000),
  SVC_MESH_HTTP_MAX_BODY_BYTES: whole('max_body_bytes', 524_288, 2048, 8_388_608),
  SVC_MESH_HTTP_RATE_LIMIT: lenient('rate_limit', false),
  SVC_MESH_HTTP_RATE_LIMIT_PER_SEC: whole('rate_per_sec', 50, 1, 1_000_000),
  SVC_MESH_HTTP_RATE_LIMIT_BURST: whole('rate_burst', undefined, 1, 1_000_000),
  SVC_MESH_SERVER_STALE_PRUNE_MS: whole('stale_prune_ms', 0, 0),
  SVC_MESH_HEARTBEATS_PER_SEC: whole('heartbeats_per_sec', 5000, 1, 1_000_000),
}

function read(setting: string, env: Record<string, string>) {
  const resolutions = tables.map((table) => resolveSettings(table, {env}))
  const found = resolutions.flatMap(({settings}) => settings).find(({name}) => name === `mesh.${setting}`)
  assert.ok(found, setting)
  return {...found, warnings: resolutions.flatMap(({warnings}) => warnings)}
}

describe('mesh variables', () => {
  for (const [variable, {setting, default: fallback, reads, refuses = []}] of Object.entries(variables)) {
    it(`${variable} sets mesh.${setting}; default ${inspect(fallback)}`, () => {
      assert.deepEqual(read(setting, {}).value, fallback)
      assert.deepEqual(read(setting, {[variable]: ''}).value, fallback)
      for (const [text, value] of reads) {
        const {value: found, origin, warnings} = read(setting, {[variable]: text})
        assert.deepEqual(found, value, `"${text}"`)
        assert.deepEqual(origin, {source: 'env', name: variable})
        assert.deepEqual(warnings, [])
      }
    })

    if (refuses.length > 0)
      it(`${variable} is ignored with a warning if it is ${refuses.join(' or ')}`, () => {
        for (const text of refuses) {
          const {value, warnings} = read(setting, {[variable]: text})
          assert.deepEqual(value, fallback, `"${text}"`)
          assert.deepEqual(
            warnings.map(({subject}) => subject),
            [variable],
          )
        }
      })
  }

  const addresses: readonly (readonly [address: string, host: string, port: number])[] = [
    ['http://127.0.0.1:9900', '127.0.0.1', 9900],
    ['localhost:9900', 'localhost', 9900],
    ['http://[::1]:9900/', '::1', 9900],
    ['https://127.0.0.2:9900', '127.0.0.2', 9900],
    ['http://0.0.0.0:9900', '127.0.0.1', 9900],
    // Hosts that are not loopback: only the port is used.
    ['http://rig1:9900', '127.0.0.1', 9900],
    ['http://10.0.0.7:9900', '127.0.0.1', 9900],
    ['https://mesh.example', '127.0.0.1', 9847],
    ['ftp://127.0.0.1:9900', '127.0.0.1', 9847],
  ]
  for (const [address, host, port] of addresses)
    it(`SVC_MESH_CONTROL_ADDR=${address} makes the control plane listen on ${host}:${port}`, () => {
      const env = {SVC_MESH_CONTROL_ADDR: address}
      const {values, settings, warnings} = resolveSettings(meshServerSettings, {env})
      assert.deepEqual([values.host, values.port, warnings], [host, port, []])
      const origin = settings.find(({name}) => name === 'mesh.port')?.origin
      assert.deepEqual(origin, port === 9847 ? {source: 'default'} : {source: 'env', name: 'SVC_MESH_CONTROL_ADDR'})
    })

  it('SVC_MESH_CONTROL_ADDR is overridden by every other source of the host or the port', () => {
    const env = {SVC_MESH_CONTROL_ADDR: 'http://[::1]:9900'}
    const read = (sources: object) => {
      const {host, port} = resolveSettings(meshServerSettings, {env, ...sources}).values
      return [host, port]
    }
    assert.deepEqual(read({flags: {port: 1, host: '0.0.0.0'}}), ['0.0.0.0', 1])
    assert.deepEqual(read({env: {...env, SVC_MESH_PORT: '2', SVC_MESH_HOST: '10.0.0.7'}}), ['10.0.0.7', 2])
    assert.deepEqual(read({file: {path: 'Svc.toml', data: {mesh: {port: 3}}}}), ['::1', 3])
    const values = {SVC_MESH_CONTROL_ADDR: 'http://127.0.0.1:9901'}
    const envFile = {values, origins: {SVC_MESH_CONTROL_ADDR: 'mesh.env'}, shadowed: [], warnings: []}
    assert.deepEqual(read({env: {}, envFile}), ['127.0.0.1', 9901])
  })

  it('are all tested here', () => {
    const declared = tables.flatMap((table) => Object.values(table.rows).flatMap(({env = []}) => env))
    assert.deepEqual([...declared].sort(), Object.keys(variables).sort())
  })
})
