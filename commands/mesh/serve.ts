import {Flags} from '@oclif/core'
import {meshPlace, meshStoreFlags, SvcCommand, settingFlags} from '../../src/cli/index.js'
import {
  type EnvFile,
  meshServerSettings,
  meshSettings,
  readMeshEnv,
  type SettingWarning,
  settingTables,
} from '../../src/config/index.js'
import type {MeshReadyV1} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'
import type {ControlPlane, Credentials} from '../../src/mesh/index.js'

/** Time that running requests have to finish after the server was asked to stop, ms. */
const drainMs = 5000

/** Maximum queued messages per receiver, so that an inactive receiver cannot use up the total limit. */
const maxPerReceiver = 10_000

/** Warnings after which the secrets of a file may be incomplete. */
const broken: ReadonlySet<SettingWarning['code']> = new Set([
  'env_file_exposed',
  'env_file_unreadable',
  'env_file_line_ignored',
])

export default class MeshServe extends SvcCommand<typeof MeshServe> {
  static override summary = 'Serve the control plane of a mesh.'
  static override description =
    `Nodes join the control plane, hold leases and exchange durable messages. All data is in one SQLite file, or in a PostgreSQL
database that several control planes share. By default, the server listens on the loopback interface. To accept other
machines, set --host and create tokens with svc mesh init.

SIGHUP reloads the secrets. On SIGTERM, long polls are answered, GET /health?ready=1 has the status 503, and in-flight
requests have five seconds to finish; then the server exits with status 0. On shared networks, configure a certificate and key in [mesh.transport], or use a TLS proxy.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --host 0.0.0.0 --json',
    '<%= config.bin %> <%= command.id %> --port 0 --db ./mesh.db',
    '<%= config.bin %> <%= command.id %> --store postgres://svc@db.example.com/mesh?sslmode=verify-full',
  ]
  static override flags = {
    ...settingFlags(meshServerSettings, 'host', 'port'),
    ...meshStoreFlags,
    insecure: Flags.boolean({description: 'Accept connections from other machines without a token.'}),
    'bootstrap-grants': Flags.option({options: ['worker', 'mesh'] as const, default: 'worker'})({
      description: 'Role of the token that a new node receives in exchange for a bootstrap token.',
    }),
  }

  async run(): Promise<void> {
    const {configureLog} = await import('../../src/log/index.js')
    const {readCredentials, readMeshSecrets} = await import('../../src/mesh/index.js')
    configureLog(this.logOptions())
    const credentials = readCredentials(readMeshSecrets(this.settingSources()))
    const {isOpen} = credentials
    if (isOpen && !this.flags.insecure) requireNothingLeftOut(this.envFile)
    const server = await this.#start(credentials)
    this.onHangup = () => void this.#reload(server)
    try {
      if (isOpen)
        this.output.notice('warning: This control plane requires no token. Create tokens with `svc mesh init`.')
      if (server.baseUrl.startsWith('http:')) await this.warnWithoutTls(server.host)
      const ready: MeshReadyV1 = {
        event: 'ready',
        base_url: server.baseUrl,
        pid: process.pid,
        auth: isOpen ? 'open' : 'tokens',
        db: server.store,
      }
      await this.output.event(ready)
      this.output.notice(`Listening on ${server.baseUrl}, database ${server.store}.`)
      await this.untilStopped()
    } finally {
      await server.close(drainMs)
    }
  }

  async #start(credentials: Credentials): Promise<ControlPlane & {store: string}> {
    const {host, port, leaseMs, maxMessages, rateLimit, ratePerSec, rateBurst, ...settings} =
      this.settings(meshServerSettings)
    const {readTlsFiles} = await import('../../src/net/index.js')
    const {openPostgresMeshStore, openSqliteMeshStore, startControlPlane} = await import('../../src/mesh/index.js')
    const {maxBodyBytes, stalePruneMs, heartbeatsPerSec, tlsCertPath, tlsKeyPath, tlsMinVersion} = settings
    const tls = await readTlsFiles({cert: tlsCertPath, key: tlsKeyPath, minVersion: tlsMinVersion})
    const limits = {leaseMs, maxMessages, maxMessagesPerReceiver: Math.min(maxPerReceiver, maxMessages)}
    const place = await meshPlace(this.settings(meshServerSettings), this.flags)
    const store =
      'url' in place ? await openPostgresMeshStore(place.url, limits) : await openSqliteMeshStore(place.path, limits)
    const server = await startControlPlane({
      address: {host, port},
      store,
      credentials,
      scope: this.settings(meshSettings).scopeId ?? '',
      maxBodyBytes,
      rate: rateLimit ? {perSecond: ratePerSec, burst: rateBurst ?? 2 * ratePerSec} : undefined,
      stalePruneMs,
      heartbeatsPerSec,
      tls,
      isInsecure: this.flags.insecure,
      bootstrapGrants: this.flags['bootstrap-grants'],
    })
    return {...server, store: store.place}
  }

  /** Reloads the secrets, or keeps the current ones if the new ones are invalid. Logs the outcome. */
  async #reload(server: ControlPlane): Promise<void> {
    const {logger} = await import('../../src/log/index.js')
    const log = logger('mesh')
    try {
      const fault = await this.#readAgain(server)
      if (fault !== undefined) return log.warn(`Keeping the current secrets: ${fault}`)
      log.info('The secrets were reloaded.')
      this.output.notice('The secrets were reloaded.')
    } catch (error) {
      log.warn(`Keeping the current secrets: ${SvcError.from(error).message}`)
    }
  }

  /** @returns why the new secrets cannot be used; undefined if they are in use now */
  async #readAgain(server: ControlPlane): Promise<string | undefined> {
    const envFile = readMeshEnv(this.workspace.root, process.env, settingTables, this.configFile)
    this.report(envFile.warnings)
    const previous = new Set(faultsOf(this.envFile))
    const fault = faultsOf(envFile).find((message) => !previous.has(message))
    if (fault !== undefined) return fault
    const [{registerSecret}, {meshSecretTexts, readCredentials, readMeshSecrets}] = await Promise.all([
      import('../../src/log/index.js'),
      import('../../src/mesh/index.js'),
    ])
    const sources = {...this.settingSources(), envFile}
    for (const text of meshSecretTexts(sources)) registerSecret(text)
    const wasOpen = readCredentials(readMeshSecrets(this.settingSources())).isOpen
    const credentials = readCredentials(readMeshSecrets(sources))
    // A file that is missing for a moment must not turn authentication off.
    if (credentials.isOpen && !wasOpen) return 'there are no new ones.'
    server.reload(credentials)
    this.envFile = envFile
    return undefined
  }
}

const faultsOf = (envFile: EnvFile | undefined): string[] =>
  (envFile?.warnings ?? []).filter(({code}) => broken.has(code)).map(({message}) => message)

/** Refuses to start without authentication if secrets exist but are ignored. @throws mesh_secrets_ignored */
function requireNothingLeftOut(envFile: EnvFile | undefined): void {
  const [fault] = faultsOf(envFile)
  if (fault !== undefined) throw new SvcError('mesh_secrets_ignored', {fault})
  const [shadowed] = envFile?.shadowed ?? []
  if (shadowed !== undefined)
    throw new SvcError('mesh_secrets_ignored', {
      fault: `A file that overrides ${shadowed} sets the address of another control plane`,
    })
}
