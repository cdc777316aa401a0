/**
 * Starts a control plane with an injected bug or `none`: `server BUG`. It is configured by the environment like
 * `svc mesh serve`, and reads its secrets from the working directory.
 */
import {readFileSync} from 'node:fs'
import {parseEnv} from 'node:util'
import {openSqliteMeshStore, readCredentials, startControlPlane} from '../../../../src/mesh/index.js'
import {Driver} from '../../../support/sqlite.js'
import {type BugName, bugs} from './bugs.js'

const [bug = 'none'] = process.argv.slice(2) as BugName[]
const set = (name: string) => process.env[name] ?? ''
const path = set('SVC_MESH_DB_PATH')
const scope = set('SVC_MESH_SCOPE_ID')
const leaseMs = Number(set('SVC_MESH_A2A_LEASE_MS'))
const maxMessages = Number(set('SVC_MESH_A2A_MAX_MESSAGES'))

function credentialsOfNow() {
  const secrets = parseEnv(readFileSync('.svc/mesh/mesh.env', 'utf8'))
  return readCredentials({
    token: secrets.SVC_MESH_TOKEN,
    workerToken: secrets.SVC_MESH_WORKER_TOKEN,
    submitterToken: secrets.SVC_MESH_SUBMITTER_TOKEN,
    adminToken: secrets.SVC_MESH_ADMIN_TOKEN,
    jwtHmacSecret: secrets.SVC_MESH_JWT_HMAC_SECRET,
    bootstrapToken: secrets.SVC_MESH_BOOTSTRAP_TOKEN,
    bootstrapExpiresUnixMs: Number(secrets.SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS),
  })
}

const credentials = credentialsOfNow()
const store = await openSqliteMeshStore(path, {leaseMs, maxMessages, maxMessagesPerReceiver: maxMessages})
const database = new Driver(path, {timeout: 5000})
const server = await startControlPlane({
  address: {host: '127.0.0.1', port: Number(set('SVC_MESH_PORT'))},
  store: bugs[bug]({store, credentials, database, leaseMs, scope}),
  credentials,
  scope,
  maxBodyBytes: Number(set('SVC_MESH_HTTP_MAX_BODY_BYTES')),
  stalePruneMs: 0,
  heartbeatsPerSec: 5000,
})
process.on('SIGHUP', () => server.reload(credentialsOfNow()))
process.once('SIGTERM', async () => {
  database.close()
  await server.close(1000)
})
