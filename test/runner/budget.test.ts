import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {parseBudget, runWithinBudget} from './budget.js'

describe('a budget', () => {
  for (const [text, seconds] of [
    ['90s', 90],
    ['10m', 600],
    ['1h', 3600],
  ] as const)
    it(`of ${text} is ${seconds} s`, () => assert.equal(parseBudget(text), seconds))

  for (const text of ['', '10', '0m', '-5m', '1.5h', '10 m', '10min', 'm'])
    it(`is not "${text}"`, () => assert.equal(parseBudget(text), undefined))
})

/** Runs files of which each takes its duration on a simulated clock. */
async function started(durations: Readonly<Record<string, number>>, unrecorded: readonly string[] = []) {
  let time = 0
  const ran: string[] = []
  const leftOut = await runWithinBudget(Object.keys(durations), {
    seconds: 100,
    workers: 1,
    recorded: (title) => (unrecorded.includes(title) ? undefined : durations[title]),
    run: async (title) => {
      ran.push(title)
      time += durations[title] ?? 0
    },
    now: () => time,
  })
  return {ran, leftOut}
}

describe('a run with a budget of 100 s', () => {
  it('leaves out what does not fit, and runs what fits after it', async () => {
    assert.deepEqual(await started({a: 60, b: 50, c: 40, d: 1}), {ran: ['a', 'c'], leftOut: ['b', 'd']})
  })

  it('starts a file without a recorded duration while time is left', async () => {
    assert.deepEqual(await started({a: 99, b: 50, c: 1}, ['b', 'c']), {ran: ['a', 'b'], leftOut: ['c']})
  })
})
