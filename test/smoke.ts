/**
 * Runs a command of each family of an installed package. Arguments: its executable, and the Node that runs it, by default
 * this one. Some commands must work without loading SQLite, which the package has only for newer versions than Node 20.
 */
import assert from 'node:assert/strict'
import {mkdtemp, realpath, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {execa} from 'execa'
import {packagesLoadedBy} from './support/loads.js'
import {randomFloats} from './support/random-floats.js'
import {writeFiles} from './support/temporary.js'
import {writeTinyModel} from './support/tiny-model.js'
import {monoWave} from './support/wave-file.js'
import {writeWhisperFolder} from './support/whisper-files.js'
import {microShape, randomWhisper} from './support/whisper-weights.js'

const [svcBinary, node = process.execPath] = process.argv.slice(2)
assert.ok(svcBinary)
const {stdout: version} = await execa(node, ['--version'])
const folder = await mkdtemp(join(tmpdir(), 'svc-smoke-'))

try {
  const loaded = await packagesLoadedBy(folder, runCommands)
  assert.ok(loaded.has('onnxruntime-node') && !loaded.has('better-sqlite3'), [...loaded].join(' '))
  await runFamilies()
  process.stdout.write(`${version}: a command of each family works.\n`)
} finally {
  await rm(folder, {recursive: true, force: true})
}

/** Runs svc in the folder, with an empty home. */
function svc(args: readonly string[], options: {env?: Record<string, string>; reject?: boolean} = {}) {
  const env = {HOME: folder, XDG_CONFIG_HOME: '', XDG_DATA_HOME: '', XDG_CACHE_HOME: '', ...options.env}
  return execa(node, [svcBinary as string, ...args], {...options, env, cwd: folder, input: ''})
}

/** Runs what users try first, and the command that each family of commands is known by. */
async function runFamilies(): Promise<void> {
  const examples = join(dirname(await realpath(svcBinary as string)), '../examples')
  const commands: readonly string[][] = [
    ['explain', 'daemon_not_running'],
    ['merge', join(examples, 'runs/guide'), '-o', 'merged'],
    ['speech', 'subtitle', join(examples, 'hello.wav'), '--output', 'hello.srt'],
    ['listen', join(examples, 'hello.wav')],
    ['cache', 'list'],
    ['config', 'show'],
    ['contracts', 'list'],
    ['bench', 'run', '--help'],
    ['db', 'check', join(examples, 'todo.svc')],
    ['mcp', 'tools'],
    ['mesh', 'status'],
  ]
  for (const args of commands) {
    const {stdout} = await svc(args)
    assert.ok(stdout.length > 0, args.join(' '))
  }
  const onSqlite: readonly string[][] = [
    ['doctor'],
    ['orch', 'submit', 'work'],
    ['workflow', 'list'],
    ['a2a', 'history'],
    ['db', 'migrate', join(examples, 'todo.svc')],
  ]
  const hasSqlite = Number.parseInt(version.slice(1), 10) >= 22
  for (const args of onSqlite) {
    const {exitCode, stdout, stderr} = await svc(args, {reject: false})
    if (hasSqlite) assert.equal(exitCode, 0, stderr)
    else assert.match(stdout + stderr, /requires? Node\.js 22 or later/, args.join(' '))
  }
}

async function runCommands(env: {NODE_V8_COVERAGE: string}): Promise<void> {
  const model = join(folder, 'tiny')
  await writeTinyModel(model)
  assert.match((await svc(['--version'], {env})).stdout, /^svc\//)
  assert.match((await svc(['--help'], {env})).stdout, /generate/)
  const {stdout} = await svc(['generate', '--model', model, '--raw', '--json', '--max-tokens', '4', 'Hi'], {env})
  assert.equal(JSON.parse(stdout).completion_tokens, 4)
  const speech = join(folder, 'whisper')
  await writeWhisperFolder(speech, microShape, randomWhisper(microShape, 3))
  await writeFiles(folder, {'noise.wav': monoWave(randomFloats(7)(24_000).map((x) => 0.1 * x))})
  const heard = await svc(['transcribe', 'noise.wav', '--model', speech, '--vad', 'none', '--json'], {env})
  assert.ok(JSON.parse(heard.stdout).text.length > 0)
}
