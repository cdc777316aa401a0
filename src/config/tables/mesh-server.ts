import {sectionSettings} from '../setting.js'
import {baseUrl, boolean, choice, integer, path, text} from '../types.js'

/** A part of the address of the control plane, where clients on this machine find it. */
const fromAddress = <T>(part: (url: URL) => T | undefined) => ({
  variable: 'SVC_MESH_CONTROL_ADDR',
  read(text: string): T | undefined {
    const address = baseUrl().parse(text)
    return address === undefined ? undefined : part(new URL(address))
  },
})

/** The name and the addresses that only this machine answers to. */
const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** The control plane of a mesh, `svc mesh serve`. */
export const meshServerSettings = sectionSettings('mesh', () => ({
  host: {
    type: text('an address of this machine'),
    flag: 'host',
    env: ['SVC_MESH_HOST'],
    implied: fromAddress(({hostname}) => (loopback.test(hostname) ? hostname.replace(/[[\]]/g, '') : undefined)),
    default: '127.0.0.1',
    doc: 'Address to listen on; SVC_MESH_CONTROL_ADDR counts where its host is loopback.',
  },
  port: {
    type: integer({min: 0, max: 65_535}),
    flag: 'port',
    env: ['SVC_MESH_PORT'],
    implied: fromAddress(({port}) => (port === '' ? undefined : Number(port))),
    default: 9847,
    doc: 'Port to listen on; 0 takes a free one.',
  },
  dbPath: {
    type: path(),
    flag: 'db',
    env: ['SVC_MESH_DB_PATH'],
    doc: 'File that the control plane keeps everything in; ~/.svc/mesh/mesh.db where it is left out.',
  },
  leaseMs: {
    type: integer({min: 1000, max: 3_600_000, clamp: true}),
    env: ['SVC_MESH_A2A_LEASE_MS'],
    default: 120_000,
    doc: 'Milliseconds for which a lease, or a claim on a message, holds unless it is renewed.',
  },
  maxMessages: {
    type: integer({min: 1, max: 500_000, clamp: true}),
    env: ['SVC_MESH_A2A_MAX_MESSAGES'],
    default: 50_000,
    doc: 'Messages that may wait; a sender of more is told to come back.',
  },
  maxBodyBytes: {
    type: integer({min: 2048, max: 8_388_608}),
    env: ['SVC_MESH_HTTP_MAX_BODY_BYTES'],
    default: 524_288,
    doc: 'Largest request body, bytes.',
    toml: [],
  },
  rateLimit: {
    type: boolean('lenient'),
    env: ['SVC_MESH_HTTP_RATE_LIMIT'],
    default: false,
    doc: 'Limit how many requests a client may send.',
  },
  ratePerSec: {
    type: integer({min: 1, max: 1_000_000}),
    env: ['SVC_MESH_HTTP_RATE_LIMIT_PER_SEC'],
    default: 50,
    doc: 'Requests per second of one client, where they are limited.',
  },
  rateBurst: {
    type: integer({min: 1, max: 1_000_000}),
    env: ['SVC_MESH_HTTP_RATE_LIMIT_BURST'],
    doc: 'Requests that a client may send at once, where they are limited; twice those of a second where it is left out.',
  },
  stalePruneMs: {
    type: integer({min: 0}),
    env: ['SVC_MESH_SERVER_STALE_PRUNE_MS'],
    default: 0,
    doc: 'Milliseconds after which a node that was not heard of is no longer listed; 0 lists all.',
  },
  heartbeatsPerSec: {
    type: integer({min: 1, max: 1_000_000}),
    env: ['SVC_MESH_HEARTBEATS_PER_SEC'],
    default: 5000,
    doc: 'Heartbeats per second that all nodes together are told to keep to.',
  },
  tlsCertPath: {
    type: path(),
    toml: ['mesh.transport.tls_cert_path'],
    doc: 'Certificate chain in PEM; with it and a key the control plane speaks HTTPS.',
  },
  tlsKeyPath: {
    type: path(),
    toml: ['mesh.transport.tls_key_path'],
    doc: 'Private key of the certificate, in PEM.',
  },
  tlsMinVersion: {
    type: choice('1.2', '1.3'),
    toml: ['mesh.transport.tls_min_version'],
    default: '1.3',
    doc: 'Oldest version of TLS that is spoken.',
  },
  wireguardEndpoint: {
    type: text('an address'),
    toml: ['mesh.transport.wireguard_endpoint'],
    planned: true,
    doc: 'Where the overlay network of this mesh is; shown, and otherwise not used.',
  },
}))
