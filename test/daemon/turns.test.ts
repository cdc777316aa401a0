import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {Turns, type Worker} from '../../src/daemon/turns.js'

/** Has so much to do, in steps of a millisecond, and counts what it has done. */
class Busy implements Worker {
  done = 0
  readonly #turns: Turns
  readonly #steps: number
  readonly #log: Busy[]

  constructor(turns: Turns, steps: number, log: Busy[] = []) {
    this.#turns = turns
    this.#steps = steps
    this.#log = log
  }

  work(until: number): void {
    this.#log.push(this)
    do {
      const end = performance.now() + 1
      while (performance.now() < end);
      this.done++
    } while (this.done < this.#steps && performance.now() < until)
    if (this.done < this.#steps) this.#turns.ask(this)
  }
}

describe('workers that share a thread', () => {
  it('all come to their turn, again and again', async () => {
    const turns = new Turns()
    const log: Busy[] = []
    const workers = Array.from({length: 5}, () => new Busy(turns, 30, log))
    for (const worker of workers) turns.ask(worker)
    while (workers.some(({done}) => done < 30)) await sleep(1)
    // Nobody is called twice while another one waits.
    for (let i = 0; i + 5 <= 25; i += 5) assert.equal(new Set(log.slice(i, i + 5)).size, 5, `${i}`)
  })

  it('leave time for timers', async () => {
    const turns = new Turns()
    const workers = Array.from({length: 20}, () => new Busy(turns, 20))
    for (const worker of workers) turns.ask(worker)
    let timers = 0
    while (workers.some(({done}) => done < 20)) {
      await sleep(1)
      timers++
    }
    // All of the work in one go would let a single one through.
    assert.ok(timers > 5, `${timers} timers`)
  })

  it('come to one turn however often they ask for it, and to none once they are forgotten', async () => {
    const turns = new Turns()
    const [asked, forgotten] = [new Busy(turns, 1), new Busy(turns, 1)]
    for (let i = 0; i < 5; i++) turns.ask(asked)
    turns.ask(forgotten)
    turns.forget(forgotten)
    await sleep(30)
    assert.deepEqual([asked.done, forgotten.done], [1, 0])
  })
})
