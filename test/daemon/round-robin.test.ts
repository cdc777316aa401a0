import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {RoundRobin, type Worker} from '../../src/daemon/round-robin.js'

/** Worker with a number of 1 ms steps that counts them. */
class Busy implements Worker {
  done = 0
  readonly #roundRobin: RoundRobin
  readonly #steps: number
  readonly #log: Busy[]

  constructor(roundRobin: RoundRobin, steps: number, log: Busy[] = []) {
    this.#roundRobin = roundRobin
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
    if (this.done < this.#steps) this.#roundRobin.schedule(this)
  }
}

describe('RoundRobin', () => {
  it('runs all workers in turn', async () => {
    const roundRobin = new RoundRobin()
    const log: Busy[] = []
    const workers = Array.from({length: 5}, () => new Busy(roundRobin, 30, log))
    for (const worker of workers) roundRobin.schedule(worker)
    while (workers.some(({done}) => done < 30)) await sleep(1)
    // No worker runs twice while another is waiting.
    for (let i = 0; i + 5 <= 25; i += 5) assert.equal(new Set(log.slice(i, i + 5)).size, 5, `${i}`)
  })

  it('leaves time for timers', async () => {
    const roundRobin = new RoundRobin()
    const workers = Array.from({length: 20}, () => new Busy(roundRobin, 20))
    for (const worker of workers) roundRobin.schedule(worker)
    let timers = 0
    while (workers.some(({done}) => done < 20)) {
      await sleep(1)
      timers++
    }
    // If all work ran at once, only one timer would fire.
    assert.ok(timers > 5, `${timers} timers`)
  })

  it('runs a worker once per scheduling, and not after its cancellation', async () => {
    const roundRobin = new RoundRobin()
    const [scheduled, cancelled] = [new Busy(roundRobin, 1), new Busy(roundRobin, 1)]
    for (let i = 0; i < 5; i++) roundRobin.schedule(scheduled)
    roundRobin.schedule(cancelled)
    roundRobin.cancel(cancelled)
    await sleep(30)
    assert.deepEqual([scheduled.done, cancelled.done], [1, 0])
  })
})
