import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {operations} from '../../src/operations/index.js'
import {noEditor, Router} from '../../src/voice/index.js'
import {spokenOperations} from '../../src/voice/spoken-operations.js'
import {pinnedOutput} from './pinned.js'
import {writeWhisper} from './whisper-model.js'

/**
 * Cost of the control of recognition. `constraints`: decoding with bias, phrases and forbidden tokens compared with
 * plain decoding, in processor time, pinned to one core. The models are a Whisper model with the shape of tiny and
 * random weights, and the starter model. `routing`: time to decide the route of a transcript among the operations of a
 * workspace, apart from what the route does. `CONTROL_ROUNDS` is the number of rounds (15).
 */
export async function speechControl() {
  return {constraints: await constraints(), routing: await routing()}
}

async function constraints() {
  const rounds = process.env.CONTROL_ROUNDS ?? '15'
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  try {
    const model = await writeWhisper(folder, 'tiny')
    const program = fileURLToPath(new URL('speech-control-run.js', import.meta.url))
    return JSON.parse(pinnedOutput(process.execPath, [program, model.folder, rounds]))
  } finally {
    await rm(folder, {recursive: true})
  }
}

const transcripts = [
  'good morning everyone and welcome to the meeting',
  'please show the task number twenty one',
  'create a function called main in src/app.svc',
  'submit a task fix the login page and add a test for it',
  'explain what the loop in this file does',
  'speech status',
]

async function routing() {
  const router = new Router()
  const ports = {
    operations: spokenOperations(operations),
    run: async () => ({summary: '', engine: {}}),
    confirm: async () => false,
    chat: async () => '',
  }
  const limits = {
    toolMinConfidence: 0.55,
    orchestratorMinConfidence: 0.45,
    maxUserTurns: 32,
    chatMessages: 64,
    sessions: 4096,
    ttlMs: 86_400_000,
  }
  const {signal} = new AbortController()
  const timesMs: number[] = []
  for (let i = 0; i < 12_000; i++) {
    const transcript = transcripts[i % transcripts.length] ?? ''
    const request = {mode: 'tool', sessionId: `s${i}`, transcript, confidence: 0.9, editor: noEditor} as const
    const started = performance.now()
    await router.route(request, ports, limits, signal)
    timesMs.push(performance.now() - started)
  }
  // The first ones include compilation.
  const sorted = timesMs.slice(2000).sort((a, b) => a - b)
  const mean = sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length
  return {operations: ports.operations.length, mean_ms: mean, p99_ms: sorted[Math.floor(0.99 * sorted.length)]}
}
