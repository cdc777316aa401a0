import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {residentMemory, skipWithoutProc} from '../support/resident-memory.js'
import {startServer} from '../support/server.js'
import {temporaryFolder} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

describe('the memory of a server', {skip: skipWithoutProc}, () => {
  it('does not grow over 500 requests', async (test) => {
    const folder = await temporaryFolder(test)
    await writeTinyModel(folder)
    // A small heap forces frequent garbage collection, and a small cache is soon full, so that any growth is a leak.
    const server = await startServer(['--model', folder, '--prefix-cache', '1'], {
      env: {NODE_OPTIONS: '--max-old-space-size=48'},
    })
    const ask = async (i: number) => {
      const body = JSON.stringify({
        prompt: 'word '.repeat(1 + (i % 40)),
        raw: true,
        stream: i % 2 === 0,
        options: {num_predict: 20},
      })
      const abort = new AbortController()
      const response = await fetch(`${server.baseUrl}/api/generate`, {method: 'POST', body, signal: abort.signal})
      if (i % 10 === 0) abort.abort()
      else await response.text()
    }
    const many = async (count: number) => {
      for (let i = 0; i < count; i += 4) await Promise.all([0, 1, 2, 3].map((k) => ask(i + k).catch(() => {})))
    }
    // Warm up compiled code and the runtime's memory arenas.
    await many(1500)
    const before = residentMemory(server.pid)
    await many(500)
    const after = residentMemory(server.pid)
    assert.equal(await server.stop(), 0)
    assert.ok(Math.abs(after - before) <= 0.1 * before, `${before} MiB before, ${after} MiB after`)
  })
})
