import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {residentMemory, skipWithoutProc} from '../support/resident-memory.js'
import {startServer} from '../support/server.js'
import {temporaryFolder} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

/** Loaded memory, MB: each of the models needs about 7. */
const limit = 12

describe('svc serve --models with memory for one of three models', {skip: skipWithoutProc}, () => {
  it('keeps within its limit and does not grow over 200 swaps', async (t) => {
    const folder = await temporaryFolder(t)
    const names = ['one', 'two', 'three']
    const size = {hiddenSize: 240, intermediateSize: 960, heads: 6, kvHeads: 3}
    for (const [i, name] of names.entries()) await writeTinyModel(join(folder, 'runs', name), {...size, seed: i + 1})
    const flags = [
      '--models',
      'runs',
      '--memory-limit',
      String(limit),
      '--prefix-cache',
      '0',
      '--chat-template',
      'none',
    ]
    const server = await startServer(flags, {
      cwd: folder,
      // A small heap forces frequent garbage collection, so that any growth is a leak.
      env: {HOME: folder, SVC_PRECISION: 'f32', NODE_OPTIONS: '--max-old-space-size=48'},
    })
    t.after(() => server.stop())
    const get = async (path: string) => (await fetch(server.baseUrl + path)).text()
    const replies = new Map<string, string>()
    /** Makes a number of swaps, and returns the resident memory after each, MiB. */
    const swap = async (count: number) => {
      const memory: number[] = []
      for (let i = 0; i < count; i++) {
        const model = names[i % names.length] as string
        const body = {model, prompt: 'Once', raw: true, stream: false, options: {num_predict: 4, temperature: 0}}
        const response = await fetch(`${server.baseUrl}/api/generate`, {method: 'POST', body: JSON.stringify(body)})
        const {response: text, error} = (await response.json()) as {response: string; error?: string}
        assert.equal(error, undefined)
        assert.equal(text, replies.get(model) ?? text)
        replies.set(model, text)
        memory.push(residentMemory(server.pid))
        const {models} = JSON.parse(await get('/api/ps')) as {models: {name: string}[]}
        assert.deepEqual(
          models.map(({name}) => name),
          [model],
        )
        const used = Number(/^svc_model_memory_bytes (\d+)$/m.exec(await get('/metrics'))?.[1])
        assert.ok(used > limit * 250_000 && used <= limit * 1_000_000, `${used} bytes`)
      }
      return memory
    }
    // Warm up compiled code and the arenas of the runtime.
    await swap(60)
    const memory = await swap(200)
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
    const [first, last, most] = [mean(memory.slice(0, 50)), mean(memory.slice(-50)), Math.max(...memory)]
    const text = `on average ${first} MiB in the first 50 swaps and ${last} MiB in the last 50, at most ${most} MiB`
    process.stdout.write(`${text}\n`)
    assert.equal(new Set(replies.values()).size, names.length)
    // All models of 200 swaps would need 1400 MB.
    assert.ok(last <= 1.1 * first && most <= 1.3 * first, text)
  })
})
