import assert from 'node:assert/strict'
import {readdirSync} from 'node:fs'
import {describe, it, type TestContext} from 'node:test'
import type {Result} from '../../src/bench/benchmark.js'
import {benchmarks} from '../../src/bench/index.js'
import {measureChecks} from '../../src/bench/lang-check.js'
import {measureFilter} from '../../src/bench/lang-filter.js'
import {medianRatio, rounds} from '../../src/bench/measure.js'
import {measureClaims} from '../../src/bench/orchestrator-dequeue.js'
import {measureSubmissions} from '../../src/bench/orchestrator-submit.js'
import {measureStartup} from '../../src/bench/startup.js'
import {packageRoot} from '../../src/files/index.js'

import {temporaryFolder} from '../support/temporary.js'

const {signal} = new AbortController()

/** Moves the folders of the benchmarks into a folder of the test. */
async function inFolder(test: TestContext): Promise<string> {
  const folder = await temporaryFolder(test)
  const {TMPDIR} = process.env
  process.env.TMPDIR = folder
  test.after(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  })
  return folder
}

describe('the benchmarks', () => {
  const small: Readonly<Record<string, (signal: AbortSignal) => Promise<Result>>> = {
    startup: async (signal) => {
      const result = await measureStartup(signal, {count: 1, warmUps: 0, earlier: packageRoot})
      assert.ok((result.figures.earlier_mcp_serve_to_oclif ?? 0) > 0, 'An earlier build is measured, too.')
      return result
    },
    'lang-check': (signal) => measureChecks(signal, {lines: 80, count: 2}),
    'lang-filter': (signal) => measureFilter(signal, {rowCount: 1000, count: 2}),
    'orchestrator-submit': (signal) => measureSubmissions(signal, {count: 2, perRound: 5}),
    'orchestrator-dequeue': (signal) => measureClaims(signal, {depths: [10, 1500], samples: 3}),
  }

  for (const [name, run] of Object.entries(small)) {
    it(`${name} measures a ratio, and leaves no files`, async (t) => {
      const folder = await inFolder(t)
      const {ratio, figures} = await run(signal)
      assert.ok(ratio > 0 && Number.isFinite(ratio), String(ratio))
      for (const [figure, value] of Object.entries(figures)) assert.ok(value > 0, `${figure}: ${value}`)
      assert.deepEqual(readdirSync(folder), [])
    })

    it(`${name} stops at the signal, and leaves no files`, async (t) => {
      const folder = await inFolder(t)
      const reason = new Error('stopped')
      await assert.rejects(run(AbortSignal.abort(reason)), reason)
      assert.deepEqual(readdirSync(folder), [])
    })
  }

  it('have unique names and describe what they measure', () => {
    assert.deepEqual(
      benchmarks.map(({name}) => name),
      Object.keys(small),
    )
    for (const {name, measures, base} of benchmarks) {
      assert.match(measures, /^Time .*\.$/, name)
      assert.match(base, /[^.]$/, name)
    }
  })
})

describe('a query benchmark', () => {
  it('selects the same 100 rows as its base', async () => {
    const {figures} = await measureFilter(signal, {rowCount: 1000, count: 1})
    assert.equal(figures.rows, 100)
  })
})

describe('the rounds of a benchmark', () => {
  it('start with warm-ups, and end when the signal is aborted between two rounds', async () => {
    const controller = new AbortController()
    const seen: number[] = []
    const run = async () => {
      for await (const i of rounds(5, {warmUps: 2, signal: controller.signal})) {
        seen.push(i)
        if (i === 1) setImmediate(() => controller.abort(new Error('stopped')))
      }
    }
    await assert.rejects(run(), /stopped/)
    assert.deepEqual(seen, [-2, -1, 0, 1])
  })

  it('are compared one by one', () => {
    // The machine was twice as slow in the second round.
    assert.equal(medianRatio([10, 20, 30], [5, 10, 10]), 2)
  })
})
