import {existsSync} from 'node:fs'
import {dirname, resolve} from 'node:path'
import {
  type Check,
  type CheckFinding,
  checkCache,
  checkDecoders,
  checkEngine,
  checkFfmpeg,
  formatFindings,
  guideFolder,
  mayCreate,
  runCheck,
  SpeechCommand,
} from '../src/cli/index.js'
import {describeSettings, meshSettings, speechSettings, workspaceSettings} from '../src/config/index.js'
import type {DoctorV1} from '../src/contracts/index.js'
import {commandLine, counted, Exit} from '../src/errors/index.js'

/** The smallest program that uses a table and an endpoint. */
const smallProgram = `
@table type Note { text: str }
@endpoint(kind: query) fn notes() to List[Note] { return db.Note.all() }
`

/** A check, and the commands that depend on it. */
interface Row {
  name: string
  commands: string
  check: Check
}

export default class Doctor extends SpeechCommand<typeof Doctor> {
  static override summary = 'Check that every command can run on this machine.'
  static override description =
    `Checks Node.js, the settings, ONNX Runtime, SQLite, models, decoders, caches, the workspace store, the daemon, the
inference server and the mesh control plane. For each check that is not ok, prints the cause and a fix. The state "off"
means that a component is not installed, started or configured. This affects only the commands that need the component.

Changes nothing and contacts only the configured addresses. Exits with status 1 if a check fails.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    `<%= config.bin %> <%= command.id %> --json | jq '.checks[] | select(.state != "ok")'`,
  ]

  async run(): Promise<void> {
    const result: DoctorV1 = {checks: [], result: 'ok'}
    for (const {name, commands, check} of this.#rows()) {
      const {state, value, fix = null} = await runCheck(check)
      result.checks.push({name, commands, state, value, fix})
      if (state === 'failed') result.result = 'failed'
    }
    await this.output.result(result, () => {
      const findings = result.checks.map(({fix, ...check}) => (fix === null ? check : {...check, fix}))
      return `${formatFindings(findings, process.stdout.columns)}${result.result}\n`
    })
    if (result.result === 'failed') this.exit(Exit.failed)
  }

  #rows(): Row[] {
    return [
      {name: 'node', commands: 'all', check: checkNode},
      {name: 'settings', commands: 'all', check: () => this.#checkSettings()},
      {
        name: 'runtime',
        commands: 'generate, serve, transcribe',
        check: () => checkEngine(this.settings(speechSettings).device),
      },
      {name: 'model', commands: 'generate, serve, merge', check: checkGuide},
      {name: 'speech-model', commands: 'transcribe', check: () => this.checkModel()},
      {name: 'decoders', commands: 'transcribe', check: checkDecoders},
      {name: 'ffmpeg', commands: 'transcribe', check: checkFfmpeg},
      {name: 'cache', commands: 'transcribe, speech', check: async () => checkCache(resolve(await this.cacheFolder()))},
      {name: 'sqlite', commands: 'db, orch, daemon, mcp, mesh', check: checkSqlite},
      {name: 'program', commands: 'db, lsp', check: checkProgram},
      {name: 'store', commands: 'orch, a2a, daemon, mcp', check: () => this.#checkStore()},
      {name: 'daemon', commands: 'orch, daemon', check: () => this.#checkDaemon()},
      {name: 'inference', commands: 'orch, mcp', check: () => this.#checkInference()},
      {name: 'tools', commands: 'mcp', check: checkTools},
      {name: 'mesh', commands: 'mesh', check: () => this.#checkMesh()},
    ]
  }

  #checkSettings(): CheckFinding {
    const all = [...this.warnings, ...describeSettings(this.settingSources()).warnings].map(({message}) => message)
    const warnings = [...new Set(all)]
    const {root, configPath} = this.workspace
    if (warnings.length === 0) return ok(configPath ?? `no Svc.toml in ${root}`)
    return {
      state: 'failed',
      value: `${counted(warnings.length, 'warning')}: ${warnings[0]}`,
      fix: commandLine`svc config check`,
    }
  }

  /** Opens the store for reading, if there is one. */
  async #checkStore(): Promise<CheckFinding> {
    const [{storePath}, {openDatabase}] = await Promise.all([
      import('../src/orchestrator/index.js'),
      import('../src/store/index.js'),
    ])
    const path = storePath(this.workspace.root, this.settings(workspaceSettings))
    if (!existsSync(path)) {
      if (await mayCreate(dirname(path))) return ok(`${path} (created by the first task)`)
      return {state: 'failed', value: `${path} cannot be created.`, fix: commandLine`chmod u+w ${this.workspace.root}`}
    }
    const database = await openDatabase(path, {readonly: true})
    try {
      database.prepare('SELECT count(*) FROM sqlite_schema').get()
    } finally {
      database.close()
    }
    return ok(path)
  }

  async #checkDaemon(): Promise<CheckFinding> {
    const {findDaemon} = await import('../src/daemon/index.js')
    const found = findDaemon(this.workspace.root)
    if (found === undefined)
      return {state: 'off', value: 'No daemon is running in this workspace.', fix: commandLine`svc daemon start`}
    return ok(`pid ${found.pid}${found.addr === null ? '' : ` at ${found.addr}`}`)
  }

  async #checkInference(): Promise<CheckFinding> {
    const {isLocalServer, probeEndpoint, resolveEndpoint} = await import('../src/inference-client/index.js')
    const {endpoint} = resolveEndpoint(this.settingSources())
    const {baseUrl, model, profile} = endpoint
    if (!isLocalServer(profile)) return ok(`profile ${profile}, which is not probed`)
    const probe = await probeEndpoint(endpoint)
    if (!probe.reachable)
      return {
        state: 'off',
        value: `No inference server answers at ${baseUrl}.`,
        fix: commandLine`svc serve --model ${guideFolder}`,
      }
    if (probe.model !== undefined) return ok(`${baseUrl} serves ${probe.model}`)
    const fix =
      probe.models.length === 0
        ? 'Install a model on that server.'
        : `Set SVC_INFERENCE_MODEL to one of its models: ${probe.models.join(', ')}.`
    return {state: 'off', value: `${baseUrl} does not serve ${model}.`, fix}
  }

  async #checkMesh(): Promise<CheckFinding> {
    const {controlUrl} = this.settings(meshSettings)
    if (controlUrl === undefined)
      return {state: 'off', value: 'No control plane is configured.', fix: commandLine`svc mesh init`}
    const {configuredClient, meshStatus} = await import('../src/mesh/index.js')
    const sources = this.settingSources(meshSettings)
    const client = configuredClient(this.settingSources(), controlUrl)
    try {
      const {state, error} = await meshStatus(sources, {client, version: this.config.version, signal: this.signal})
      if (state === 'connected') return ok(`connected to ${controlUrl}`)
      return {state: 'failed', value: error ?? `No answer from ${controlUrl}.`, fix: commandLine`svc mesh status`}
    } finally {
      await client.close()
    }
  }
}

const ok = (value: string): CheckFinding => ({state: 'ok', value})

/** Reports the version only: npm has checked that it is supported. */
const checkNode = (): CheckFinding => ok(`Node.js ${process.versions.node} on ${process.platform} ${process.arch}`)

async function checkGuide(): Promise<CheckFinding> {
  const {openRunDirectory} = await import('../src/weights/index.js')
  await openRunDirectory(guideFolder)
  return ok(`${guideFolder} (ships with svc)`)
}

async function checkSqlite(): Promise<CheckFinding> {
  const {openDatabase} = await import('../src/store/index.js')
  const database = await openDatabase(':memory:')
  try {
    const {version} = database.prepare('SELECT sqlite_version() AS version').get() as {version: string}
    return ok(`SQLite ${version}`)
  } finally {
    database.close()
  }
}

/** Checks a program and opens it with an in-memory database. */
async function checkProgram(): Promise<CheckFinding> {
  const {Application, checkProgram: check} = await import('../src/lang/index.js')
  const application = await Application.open(check(smallProgram), {path: ':memory:'})
  application.close()
  return ok('test program compiled and opened')
}

async function checkTools(): Promise<CheckFinding> {
  const {operationTools} = await import('../src/mcp/index.js')
  return ok(`${operationTools().length} tools`)
}
