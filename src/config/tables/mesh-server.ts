import {sectionSettings} from '../setting.js'
import {baseUrl, boolean, choice, integer, path, text} from '../types.js'

/** A value derived from the address at which clients look for the control plane. */
const fromAddress = <T>(part: (url: URL) => T | undefined) => ({
  variable: 'SVC_MESH_CONTROL_ADDR',
  read(text: string): T | undefined {
    const address = baseUrl().parse(text)
    return address === undefined ? undefined : part(new URL(address))
  },
})

/** Host names and addresses of the loopback interface. */
const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** The control plane of a mesh, `svc mesh serve`. */
export const meshServerSettings = sectionSettings('mesh', () => ({
  host: {
    type: text('an address of this machine'),
    flag: 'host',
    env: ['SVC_MESH_HOST'],
    implied: fromAddress(({hostname}) => (loopback.test(hostname) ? hostname.replace(/[[\]]/g, '') : undefined)),
    default: '127.0.0.1',
    doc: 'Address to listen on; the host in SVC_MESH_CONTROL_ADDR is used only if it is a loopback host.',
  },
  port: {
    type: integer({min: 0, max: 65_535}),
    flag: 'port',
    env: ['SVC_MESH_PORT'],
    implied: fromAddress(({port}) => (port === '' ? undefined : Number(port))),
    default: 9847,
    doc: 'Port to listen on; 0 selects a free port.',
  },
  dbPath: {
    type: path(),
    flag: 'db',
    env: ['SVC_MESH_DB_PATH'],
    doc: 'Database file of the control plane; default: ~/.svc/mesh/mesh.db.',
  },
  storeUrl: {
    type: text('a URL such as postgres://user@host/database'),
    env: ['SVC_MESH_STORE_URL'],
    secret: true,
    doc: 'URL of a PostgreSQL database of the control plane, used instead of a file.',
    toml: [],
  },
  leaseMs: {
    type: integer({min: 1000, max: 3_600_000, clamp: true}),
    env: ['SVC_MESH_A2A_LEASE_MS'],
    default: 120_000,
    doc: 'Duration of a lease or message claim unless it is renewed, in milliseconds.',
  },
  maxMessages: {
    type: integer({min: 1, max: 500_000, clamp: true}),
    env: ['SVC_MESH_A2A_MAX_MESSAGES'],
    default: 50_000,
    doc: 'Maximum number of waiting messages; further messages are rejected with status 429.',
  },
  maxBodyBytes: {
    type: integer({min: 2048, max: 8_388_608}),
    env: ['SVC_MESH_HTTP_MAX_BODY_BYTES'],
    default: 524_288,
    doc: 'Maximum size of a request body, in bytes.',
    toml: [],
  },
  rateLimit: {
    type: boolean('lenient'),
    env: ['SVC_MESH_HTTP_RATE_LIMIT'],
    default: false,
    doc: 'Limit the request rate of each client.',
  },
  ratePerSec: {
    type: integer({min: 1, max: 1_000_000}),
    env: ['SVC_MESH_HTTP_RATE_LIMIT_PER_SEC'],
    default: 50,
    doc: 'Requests allowed per second and client if the rate is limited.',
  },
  rateBurst: {
    type: integer({min: 1, max: 1_000_000}),
    env: ['SVC_MESH_HTTP_RATE_LIMIT_BURST'],
    doc: "Requests that a client may send at once if the rate is limited; default: two seconds' worth.",
  },
  stalePruneMs: {
    type: integer({min: 0}),
    env: ['SVC_MESH_SERVER_STALE_PRUNE_MS'],
    default: 0,
    doc: 'Time without a heartbeat after which a node is no longer listed, in milliseconds; 0 lists all nodes.',
  },
  heartbeatsPerSec: {
    type: integer({min: 1, max: 1_000_000}),
    env: ['SVC_MESH_HEARTBEATS_PER_SEC'],
    default: 5000,
    doc: 'Target for the heartbeats per second of all nodes together; it sets the interval of each node.',
  },
  tlsCertPath: {
    type: path(),
    toml: ['mesh.transport.tls_cert_path'],
    doc: 'PEM file of the certificate chain; together with a key it enables HTTPS.',
  },
  tlsKeyPath: {
    type: path(),
    toml: ['mesh.transport.tls_key_path'],
    doc: 'PEM file of the private key for the certificate.',
  },
  tlsMinVersion: {
    type: choice('1.2', '1.3'),
    toml: ['mesh.transport.tls_min_version'],
    default: '1.3',
    doc: 'Minimum TLS version to accept.',
  },
  wireguardEndpoint: {
    type: text('an address'),
    toml: ['mesh.transport.wireguard_endpoint'],
    doc: 'Endpoint of the overlay network of this mesh, shown by svc mesh status.',
  },
}))
