/** Commands of several processes that use the same files at the same time: caches, downloads, outputs. */
import assert from 'node:assert/strict'
import {once} from 'node:events'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {describe, it, type TestContext} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import type {CachePruneV1} from '../../src/contracts/index.js'
import {killIfRunning, usersText} from '../../src/process/index.js'
import {type HubModel, startHub} from '../support/hub-server.js'
import {killRounds} from '../support/kill-rounds.js'
import {projectFile} from '../support/project.js'
import {startServer} from '../support/server.js'
import {startSvc, svc} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'
import {until} from '../support/until.js'
import {writeWideWhisper} from '../support/wide-whisper.js'

const hello = projectFile('examples/hello.wav')
const text = 'hello and welcome to your own machine\n'

async function modelWithCache(t: TestContext) {
  const cwd = await temporaryFolder(t)
  await writeTinyModel(join(cwd, 'model'), {})
  const options = {cwd, env: {HOME: cwd, XDG_CACHE_HOME: join(cwd, 'cache'), SVC_THREADS: '1'}}
  const rounded = ['--model', 'model', '--precision', 'w8']
  const generating = ['generate', ...rounded, '--temperature', '0', '--max-tokens', '3', 'a']
  return {
    generate: () => svcInTurn(generating, options),
    startGenerate: () => startSvc(generating, options),
    serve: () => startServer(rounded, {...options, isAlone: true}),
    startPrune: () => startSvc(['cache', 'prune', '--all'], options),
    async prune() {
      const {stdout, stderr} = await svcInTurn(['cache', 'prune', '--all', '--json'], options)
      return {stderr, ...(JSON.parse(stdout) as CachePruneV1)}
    },
  }
}

describe('svc cache prune', () => {
  it('keeps the files of a server until it ends, also with SIGKILL', async (t) => {
    const {serve, prune, generate} = await modelWithCache(t)
    const {pid} = await serve()
    t.after(() => killIfRunning(pid))
    const during = await prune()
    assert.deepEqual([during.removed, during.used.map(({users}) => users)], [[], [[{pid, command: 'svc serve'}]]])
    assert.match(during.stderr, new RegExp(`are in use by process ${pid} \\(svc serve\\) and were kept`))
    process.kill(pid, 'SIGKILL')
    await until(async () => (await prune()).removed.length === 1, 'the end of the server')
    assert.equal((await generate()).exitCode, 0)
  })

  it('and a command that loads a model survive the death of each other', async (t) => {
    const {startGenerate, startPrune, generate} = await modelWithCache(t)
    for (let round = 0; round < killRounds; round++) {
      const sides = [startGenerate(), startPrune()]
      const [killed, survivor] = round % 2 === 0 ? sides : sides.reverse()
      await sleep(Math.random() * 500)
      killed?.kill('SIGKILL')
      await killed
      const {exitCode, stderr} = await survivor!
      assert.equal(exitCode, 0, String(stderr))
    }
    assert.equal((await generate()).exitCode, 0)
  })
})

describe('svc listen --output', () => {
  it('never shares its file with another one, until that has died', async (t) => {
    const cwd = await temporaryFolder(t)
    const options = {cwd, env: {HOME: cwd, SVC_SPEECH_THREADS: '1'}}
    const listening = (source: string) => ['listen', source, '--output', 'notes.txt', '--overwrite']
    const listen = () => svcInTurn(listening(hello), options)
    const notes = () => readFile(join(cwd, 'notes.txt'), 'utf8').catch(() => undefined)
    // The first ends when it has the whole recording, so its last part is held back.
    const recording = await readFile(hello)
    const half = recording.length >> 1
    for (let round = 0; round < killRounds; round++) {
      const first = startSvc(listening('-'), options)
      first.stdin?.write(recording.subarray(0, half))
      t.after(() => first.kill('SIGKILL'))
      await until(async () => (await usersText(join(cwd, 'notes.txt'))) !== '', 'the start of the first')
      const {exitCode, stderr} = await listen()
      assert.equal(exitCode, 4, String(stderr))
      assert.match(String(stderr), new RegExp(`is being written by process ${first.pid} \\(svc listen\\)`))
      if (round % 2 === 0) {
        first.kill('SIGKILL')
        await first
        assert.equal((await listen()).exitCode, 0)
      } else {
        first.stdin?.end(recording.subarray(half))
        await first
      }
      assert.equal(await notes(), text)
    }
  })

  it('creates a file for one of two that start at once', async (t) => {
    const cwd = await temporaryFolder(t)
    const options = {cwd, env: {HOME: cwd, SVC_SPEECH_THREADS: '1'}}
    const both = await Promise.all([1, 2].map(() => svc(['listen', hello, '--output', 'notes.txt'], options)))
    const codes = both.map(({exitCode}) => exitCode).sort()
    assert.deepEqual(codes, [0, 4], both.map(({stderr}) => stderr).join(''))
    assert.equal(await readFile(join(cwd, 'notes.txt'), 'utf8'), text)
  })
})

describe('svc speech pull', () => {
  it('and a server that uses the model survive the death of each other', async (t) => {
    const cwd = await temporaryFolder(t)
    const [id, file] = ['acme/whisper', 'model.safetensors']
    const model: HubModel = {commit: 'a'.repeat(40), revisions: ['main'], files: await whisperFiles(cwd, 1)}
    const models = {[id]: model}
    const hub = await startHub(t, models)
    const env = {HOME: cwd, HF_HOME: join(cwd, 'hub'), HF_ENDPOINT: hub.endpoint, SVC_SPEECH_THREADS: '1'}
    const options = {cwd, env}
    const pulling = ['speech', 'pull', id]
    const pull = () => svcInTurn(pulling, options)
    assert.equal((await pull()).exitCode, 0)
    const serve = async () => {
      const running = startSvc(['speech', 'serve', '--model', id, '--vad', 'none', '--json', '--port', '0'], options)
      t.after(() => running.kill('SIGKILL'))
      const [line] = await once(createInterface({input: running.stdout as NodeJS.ReadableStream}), 'line')
      const {base_url: url} = JSON.parse(line)
      return {
        running,
        async transcribe() {
          const body = new FormData()
          body.set('file', new Blob([await readFile(hello)]), 'hello.wav')
          const response = await fetch(`${url}/v1/audio/transcriptions`, {method: 'POST', body})
          assert.equal(response.status, 200)
          return ((await response.json()) as {text: string}).text
        },
      }
    }
    let server = await serve()
    let said = await server.transcribe()
    for (let round = 0; round < killRounds; round++) {
      // The next version of the model has other weights.
      Object.assign(model, {commit: String(round).padStart(40, 'b'), files: await whisperFiles(cwd, 2 + round)})
      hub.faults.push({path: file, fault: {kind: 'slow', pauseMs: 20}})
      const seen = hub.requests.length
      const killed = startSvc(pulling, options)
      await until(() => hub.requests.slice(seen).some(({url}) => url.includes(file)), 'the download')
      killed.kill('SIGKILL')
      await killed
      assert.equal(await server.transcribe(), said, 'the running server')
      const other = await serve()
      assert.equal(await other.transcribe(), said, 'a server that started after the death of the download')
      other.running.kill('SIGKILL')
      server.running.kill('SIGKILL')
      hub.faults.length = 0
      assert.equal((await pull()).exitCode, 0)
      server = await serve()
      const next = await server.transcribe()
      // Some random models hear nothing.
      assert.ok(next !== said || next === '', 'the new version')
      said = next
    }
  })
})

/** The files of a random Whisper. */
async function whisperFiles(folder: string, seed: number): Promise<Record<string, Buffer>> {
  const target = join(folder, `whisper-${seed}`)
  await writeWideWhisper(target, 'F32', 1, seed)
  const names = ['config.json', 'tokenizer.json', 'model.safetensors']
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(join(target, name))])))
}
