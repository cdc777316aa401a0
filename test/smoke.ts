/** Runs a few commands under a Node (its path is the argument, or this one): they must work without loading SQLite. */
import assert from 'node:assert/strict'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {execa} from 'execa'
import {packagesLoadedBy} from './support/loads.js'
import {randomFloats} from './support/random-floats.js'
import {svcBinary} from './support/svc.js'
import {writeFiles} from './support/temporary.js'
import {writeTinyModel} from './support/tiny-model.js'
import {monoWave} from './support/wave-file.js'
import {writeWhisperFolder} from './support/whisper-files.js'
import {microShape, randomWhisper} from './support/whisper-weights.js'

const node = process.argv[2] ?? process.execPath
const folder = await mkdtemp(join(tmpdir(), 'svc-smoke-'))

try {
  const loaded = await packagesLoadedBy(folder, runCommands)
  assert.ok(loaded.has('onnxruntime-node') && !loaded.has('better-sqlite3'), [...loaded].join(' '))
  process.stdout.write(
    `${(await execa(node, ['--version'])).stdout}: --version, --help, generate and transcribe work.\n`,
  )
} finally {
  await rm(folder, {recursive: true, force: true})
}

async function runCommands(env: {NODE_V8_COVERAGE: string}): Promise<void> {
  assert.ok(node)
  const svc = (...args: string[]) => execa(node, [svcBinary, ...args], {env, cwd: folder})
  const model = join(folder, 'tiny')
  await writeTinyModel(model)
  assert.match((await svc('--version')).stdout, /^svc\//)
  assert.match((await svc('--help')).stdout, /generate/)
  const {stdout} = await svc('generate', '--model', model, '--raw', '--json', '--max-tokens', '4', 'Hi')
  assert.equal(JSON.parse(stdout).completion_tokens, 4)
  const speech = join(folder, 'whisper')
  await writeWhisperFolder(speech, microShape, randomWhisper(microShape, 3))
  await writeFiles(folder, {'noise.wav': monoWave(randomFloats(7)(24_000).map((x) => 0.1 * x))})
  const heard = await svc('transcribe', 'noise.wav', '--model', speech, '--vad', 'none', '--json')
  assert.ok(JSON.parse(heard.stdout).text.length > 0)
}
