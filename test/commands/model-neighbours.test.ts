/** Commands on a model that another process downloads or uses. Real processes on each side. */
import assert from 'node:assert/strict'
import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {copyFile, readdir, readFile, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {describe, it, type TestContext} from 'node:test'
import type {PullV1} from '../../src/contracts/index.js'
import {hubMachine, id, weights} from '../support/hub-machine.js'
import {killRounds} from '../support/kill-rounds.js'
import {projectFile} from '../support/project.js'
import {startSvc, svc} from '../support/svc.js'
import {until} from '../support/until.js'

/** A machine, and functions to stop a download of its model at a byte of the weights. */
async function machine(t: TestContext, ...args: [] | [Parameters<typeof hubMachine>[1]]) {
  const here = await hubMachine(t, ...args)
  const {hub, model, place, repository, run} = here
  const blobs = join(repository, 'blobs')
  const partialBytes = async () => {
    const partial = (await readdir(blobs).catch(() => [])).find((name) => /^[0-9a-f]{64}\.incomplete$/.test(name))
    return partial === undefined ? 0 : (await stat(join(blobs, partial))).size
  }
  return {
    ...here,
    partialBytes,
    size: Buffer.byteLength(model.files[weights] ?? ''),
    start(...words: string[]) {
      const running = startSvc(words, place)
      t.after(() => running.kill('SIGKILL'))
      return running
    },
    /** Stops the next response with weights after a number of bytes; resolves when these have been sent. */
    stall: (after: number) =>
      new Promise<void>((reached) => {
        hub.faults.push({path: `store/${id}/${weights}`, fault: {kind: 'stall', after, reached}})
      }),
    async assertComplete(stdout: string) {
      const {path, files} = JSON.parse(stdout) as PullV1
      assert.ok(files.some(({name}) => name === weights))
      for (const {name} of files)
        assert.deepEqual(await readFile(join(path, name)), Buffer.from(model.files[name] ?? ''), name)
      assert.ok((await readdir(blobs)).every((name) => !name.endsWith('.incomplete')))
    },
    /** `svc rm` is refused, and names the process. */
    async assertInUse(name: string, pid: number | undefined, command?: string) {
      const {exitCode, stderr} = await run('rm', name, '--yes')
      const user = command === undefined ? `process ${pid}` : `process ${pid} (${command})`
      assert.deepEqual([exitCode, stderr.includes(`in use by ${user}`)], [4, true], stderr)
    },
  }
}

describe('svc pull', () => {
  it('continues after each of several SIGKILLs at random bytes, and the files are the same', async (t) => {
    const {hub, list, succeed, start, stall, size, partialBytes, assertComplete, assertInUse} = await machine(t)
    for (let round = 0; round < killRounds; round++) {
      const before = await partialBytes()
      const stalled = stall(1 + Math.floor((Math.random() * size) / killRounds))
      const pulling = start('pull', id)
      await stalled
      // Otherwise it is killed while it receives or stores the bytes.
      if (round % 2 === 0) await until(async () => (await partialBytes()) > before, 'more of the weights')
      if (round === 0) await assertInUse(id, pulling.pid)
      pulling.kill('SIGKILL')
      await pulling
      assert.deepEqual(
        (await list()).map(({name, kind}) => [name, kind]),
        [[id, 'partial']],
      )
    }
    await assertComplete(await succeed('pull', id, '--json'))
    const starts = hub.requests
      .filter(({url}) => url.includes('signed'))
      .map(({range}) => Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0))
    assert.equal(starts.length, killRounds + 1)
    assert.ok((starts.at(-1) ?? 0) > 0)
    assert.deepEqual(
      starts,
      starts.toSorted((a, b) => a - b),
    )
  })

  it('downloads each file once for two processes', async (t) => {
    const {hub, place} = await machine(t)
    const both = await Promise.all([1, 2].map(() => svc(['pull', id], place)))
    assert.deepEqual(
      both.map(({exitCode}) => exitCode),
      [0, 0],
      both.map(({stderr}) => stderr).join(''),
    )
    assert.equal(both[0]?.stdout, both[1]?.stdout)
    assert.equal(hub.requests.filter(({url}) => url.includes('signed')).length, 1)
  })

  it('continues the download of another process that is killed meanwhile', async (t) => {
    const {hub, start, stall, size, partialBytes, assertComplete} = await machine(t)
    const stalled = stall(Math.floor(size / 2))
    const first = start('pull', id)
    await stalled
    await until(async () => (await partialBytes()) > 0, 'a part of the weights')
    hub.requests.length = 0
    const second = start('pull', id, '--json')
    await until(() => hub.requests.length > 0, 'the second process asks the hub')
    first.kill('SIGKILL')
    const {stdout, stderr, exitCode} = await second
    assert.equal(exitCode, 0, String(stderr))
    await assertComplete(String(stdout))
    const resumed = hub.requests.filter(({url}) => url.includes('signed')).map(({range}) => range)
    assert.deepEqual([resumed.length, /^bytes=[1-9]\d*-$/.test(resumed[0] ?? '')], [1, true])
  })
})

describe('svc rm', () => {
  /** The starter model, without the lists of words that the hub does not have. */
  async function starter() {
    const read = (name: string) => readFile(projectFile(`examples/models/starter/${name}`))
    const {words: _, ...config} = JSON.parse((await read('config.json')).toString('utf8'))
    const files = {'vocab.json': await read('vocab.json'), [weights]: await read(weights)}
    return {commit: 'c'.repeat(40), revisions: ['main'], files: {...files, 'config.json': JSON.stringify(config)}}
  }
  const ready = async ({stdout}: ReturnType<typeof startSvc>) => {
    const [line] = await once(createInterface({input: stdout as NodeJS.ReadableStream}), 'line')
    return (JSON.parse(line) as {base_url: string}).base_url
  }
  const post = (url: string, body: object) =>
    fetch(url, {method: 'POST', headers: {'content-type': 'application/json'}, body: JSON.stringify(body)})

  it('refuses a model that svc serve uses, also while it is unloaded', async (t) => {
    const {start, succeed, repository, assertInUse} = await machine(t)
    await succeed('pull', id)
    const server = start('serve', '--model', id, '--port', '0', '--json', '--chat-template', 'none')
    const url = await ready(server)
    const reply = async (more: object) => {
      const options = {num_predict: 2, temperature: 0}
      const response = await post(`${url}/api/generate`, {prompt: 'a', stream: false, options, ...more})
      assert.equal(response.status, 200)
      return ((await response.json()) as {response: string}).response
    }
    const before = await reply({keep_alive: 0})
    await until(async () => {
      const {models} = (await (await fetch(`${url}/api/ps`)).json()) as {models: unknown[]}
      return models.length === 0
    }, 'the model to be unloaded')
    await assertInUse(id, server.pid, 'svc serve')
    assert.equal(await reply({}), before)
    server.kill('SIGTERM')
    await server
    await succeed('rm', id, '--yes')
    assert.equal(existsSync(repository), false)
  })

  it('refuses a model that svc generate uses, which completes its reply', async (t) => {
    const {start, succeed, assertInUse} = await machine(t)
    await succeed('pull', id)
    const flags = ['--temperature', '0', '--max-tokens', '400', '--chat-template', 'none']
    const command = ['generate', '--model', id, ...flags, 'a']
    const expected = await succeed(...command)
    const running = start(...command)
    await once(running.stdout as NodeJS.ReadableStream, 'data')
    // It would be faster than the other command.
    running.kill('SIGSTOP')
    await assertInUse(id, running.pid, 'svc generate')
    running.kill('SIGCONT')
    const {stdout, stderr, exitCode} = await running
    assert.equal(exitCode, 0, String(stderr))
    assert.equal(String(stdout), expected)
    await succeed('rm', id, '--yes')
  })

  it('refuses a model that svc speech serve uses', async (t) => {
    const name = 'acme/starter'
    const {start, succeed, cwd, assertInUse} = await machine(t, {[name]: await starter()})
    await succeed('pull', name)
    await copyFile(projectFile('examples/hello.wav'), join(cwd, 'hello.wav'))
    const server = start('speech', 'serve', '--model', name, '--port', '0', '--json')
    const url = await ready(server)
    const text = async () => {
      const response = await post(`${url}/api/audio/transcribe`, {path: 'hello.wav'})
      const answer = (await response.json()) as {text: string}
      assert.equal(response.status, 200, JSON.stringify(answer))
      return answer.text
    }
    const before = await text()
    await assertInUse(name, server.pid, 'svc speech serve')
    assert.equal(await text(), before)
    server.kill('SIGTERM')
    await server
    await succeed('rm', name, '--yes')
    assert.equal(existsSync(join(cwd, 'hf/hub/models--acme--starter')), false)
  })
})
