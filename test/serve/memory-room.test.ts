import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {MemoryRoom, type Resident} from '../../src/serve/memory-room.js'

/** A model whose unloading is recorded; `end` ends its running replies. */
function resident(name: string, memoryBytes: number, room: MemoryRoom, log: string[]) {
  let end = () => {}
  const idle = () => Promise.resolve()
  const model = {
    name,
    memoryBytes,
    isBusy: false,
    lastUsed: 0,
    ended: idle(),
    async retire() {
      await this.ended
      log.push(name)
      room.delete(this)
    },
    run() {
      this.isBusy = true
      this.ended = new Promise((resolve) => {
        end = resolve
      })
      return () => end()
    },
  }
  return model satisfies Resident
}

describe('MemoryRoom', () => {
  const never = new AbortController().signal

  /** A room for three models of 10 bytes, which are loaded and were used in this order. */
  function full() {
    const log: string[] = []
    const room = new MemoryRoom(30)
    const models = ['a', 'b', 'c'].map((name, i) => Object.assign(resident(name, 10, room, log), {lastUsed: i}))
    for (const model of models) room.add(model)
    return {log, room, models: models as [(typeof models)[0], (typeof models)[0], (typeof models)[0]]}
  }

  it('unloads the least recently used models, as many as necessary', async () => {
    const {log, room} = full()
    await room.admit(resident('d', 11, room, log), never)
    assert.deepEqual([log, room.usedBytes], [['a', 'b'], 21])
  })

  it('unloads idle models first, and waits for the replies of the others', async () => {
    const {log, room, models} = full()
    const [a] = models
    const end = a.run()
    await room.admit(resident('d', 10, room, log), never)
    assert.deepEqual(log, ['b'])
    const admitted = room.admit(resident('e', 30, room, log), never)
    const late = room.admit(resident('f', 10, room, log), never)
    await new Promise(setImmediate)
    assert.deepEqual(log, ['b', 'd', 'c'])
    assert.ok(room.usedBytes <= 30)
    end()
    await admitted
    assert.deepEqual(log, ['b', 'd', 'c', 'a'])
    await late
    assert.deepEqual([log.at(-1), room.usedBytes], ['e', 10])
  })

  it('refuses a model that does not fit, with the sizes, and unloads nothing', async () => {
    const {log, room} = full()
    await assert.rejects(room.admit(resident('d', 31_000_000, room, log), never), {
      code: 'model_too_large',
      message: "model 'd' needs about 31.0 MB, and this server has 0.0 MB for models",
    })
    assert.deepEqual([log, room.usedBytes], [[], 30])
  })

  it('admits the next model after a refusal', async () => {
    const {log, room} = full()
    const refused = room.admit(resident('d', 31, room, log), never)
    const admitted = room.admit(resident('e', 10, room, log), never)
    await assert.rejects(refused)
    await admitted
    assert.deepEqual(log, ['a'])
  })
})
