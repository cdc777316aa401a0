import {existsSync} from 'node:fs'
import {dirname, join, resolve} from 'node:path'
import {
  type Check,
  checkCache,
  checkDecoders,
  checkEngine,
  checkFfmpeg,
  type Finding,
  formatFindings,
  mayCreate,
  runCheck,
  SpeechCommand,
} from '../src/cli/index.js'
import {describeSettings, meshSettings, speechSettings, workspaceSettings} from '../src/config/index.js'
import type {DoctorV1} from '../src/contracts/index.js'
import {Exit} from '../src/errors/index.js'
import {packageRoot} from '../src/files/index.js'

/** A small run directory that comes with the program. */
const guide = join(packageRoot, 'examples', 'runs', 'guide')

/** The smallest program that uses a table and an endpoint. */
const smallProgram = `
@table type Note { text: str }
@endpoint(kind: query) fn notes() to List[Note] { return db.Note.all() }
`

/** What a check looks at, and the commands that need it. */
interface Row {
  name: string
  commands: string
  check: Check
}

export default class Doctor extends SpeechCommand<typeof Doctor> {
  static override summary = 'Check that every command can run on this machine.'
  static override description =
    `Checks Node.js, the settings, ONNX Runtime, SQLite, the models, decoders and caches, the store of the workspace, the daemon,
the inference server and the control plane of the mesh. Each check that is not ok names its cause and a command that fixes
it. "off" is what is not installed, started or configured, and only its own commands need. Uses no network but the
configured addresses, and changes nothing. Exits with 1 when a check fails.`
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

  #checkSettings(): Finding {
    const all = [...this.warnings, ...describeSettings(this.settingSources()).warnings].map(({message}) => message)
    const warnings = [...new Set(all)]
    const {root, configPath} = this.workspace
    if (warnings.length === 0) return ok(configPath ?? `no Svc.toml in ${root}; every setting has its default`)
    return {state: 'failed', value: `${warnings.length} warnings: ${warnings[0]}`, fix: 'svc config check'}
  }

  /** Opens the store to read, where there is one. */
  async #checkStore(): Promise<Finding> {
    const [{storePath}, {openDatabase}] = await Promise.all([
      import('../src/orchestrator/index.js'),
      import('../src/store/index.js'),
    ])
    const path = storePath(this.workspace.root, this.settings(workspaceSettings))
    if (!existsSync(path)) {
      if (await mayCreate(dirname(path))) return ok(`${path} is created by the first task`)
      return {state: 'failed', value: `${path} cannot be created.`, fix: `chmod u+w ${this.workspace.root}`}
    }
    const database = await openDatabase(path, {readonly: true})
    try {
      database.prepare('SELECT count(*) FROM sqlite_schema').get()
    } finally {
      database.close()
    }
    return ok(path)
  }

  async #checkDaemon(): Promise<Finding> {
    const {findDaemon} = await import('../src/daemon/index.js')
    const found = findDaemon(this.workspace.root)
    if (found === undefined) return {state: 'off', value: 'No daemon runs in this workspace.', fix: 'svc daemon start'}
    return ok(`process ${found.pid}${found.addr === null ? '' : ` at ${found.addr}`}`)
  }

  async #checkInference(): Promise<Finding> {
    const {probeEndpoint, resolveEndpoint} = await import('../src/inference-client/index.js')
    const {endpoint} = resolveEndpoint(this.settingSources())
    const {baseUrl, model} = endpoint
    const probe = await probeEndpoint(endpoint)
    if (!probe.reachable)
      return {
        state: 'off',
        value: `No inference server answers at ${baseUrl}.`,
        fix: `svc serve --model ${guide}`,
      }
    if (probe.model !== undefined) return ok(`${baseUrl} serves ${probe.model}`)
    const fix = `Set SVC_INFERENCE_MODEL to a model that it serves: ${probe.models.join(', ') || 'it has none'}.`
    return {state: 'off', value: `${baseUrl} does not serve ${model}.`, fix}
  }

  async #checkMesh(): Promise<Finding> {
    const {controlUrl} = this.settings(meshSettings)
    if (controlUrl === undefined) return {state: 'off', value: 'No control plane is configured.', fix: 'svc mesh init'}
    const {configuredClient, meshStatus} = await import('../src/mesh/index.js')
    const sources = this.settingSources(meshSettings)
    const client = configuredClient(this.settingSources(), controlUrl)
    try {
      const {state, error} = await meshStatus(sources, {client, version: this.config.version, signal: this.signal})
      if (state === 'connected') return ok(`${controlUrl} answers`)
      return {state: 'failed', value: error ?? `${controlUrl} does not answer.`, fix: 'svc mesh status'}
    } finally {
      await client.close()
    }
  }
}

const ok = (value: string): Finding => ({state: 'ok', value})

/** Node.js itself has been checked by npm; what is left is a version that only some commands can use. */
const checkNode = (): Finding => ok(`Node.js ${process.versions.node} on ${process.platform} ${process.arch}`)

async function checkGuide(): Promise<Finding> {
  const {openRunDirectory} = await import('../src/weights/index.js')
  await openRunDirectory(guide)
  return ok(`${guide} (comes with svc)`)
}

async function checkSqlite(): Promise<Finding> {
  const {openDatabase} = await import('../src/store/index.js')
  const database = await openDatabase(':memory:')
  try {
    const {version} = database.prepare('SELECT sqlite_version() AS version').get() as {version: string}
    return ok(`SQLite ${version}`)
  } finally {
    database.close()
  }
}

/** Checks a program and opens it over a database in memory. */
async function checkProgram(): Promise<Finding> {
  const {Application, checkProgram: check} = await import('../src/lang/index.js')
  const application = await Application.open(check(smallProgram), {path: ':memory:'})
  application.close()
  return ok('a small program is checked and opened')
}

async function checkTools(): Promise<Finding> {
  const {operationTools} = await import('../src/mcp/index.js')
  return ok(`${operationTools().length} tools`)
}
