import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {timeLimits} from './time-limits.js'

const limits = (source: string) => timeLimits(source).map(({ms}) => ms)

describe('the check of time limits', () => {
  const found: readonly (readonly [source: string, ms: number])[] = [
    ['assert.ok(performance.now() - start < 500)', 500],
    ['const took = Date.now() - start; assert.ok(took >= 10 && 200 > took)', 200],
    ['times.push(performance.now() - start); assert.ok(times.sort()[25]! < 100)', 100],
    ['best = Math.min(best, performance.now() - start); assert(best <= 50)', 50],
    ['const soonMs = 2 * 250; assert.ok(performance.now() - start < soonMs)', 500],
    ['if (performance.now() - start > 900) throw new Error("late")', 900],
    ["it('works', {timeout: 500}, () => {})", 500],
    ["it.skip('works', {timeout: 500}, () => {})", 500],
    ["describe('work', {timeout: 60_000}, () => {})", 60_000],
    ["await once(child, 'exit', {signal: AbortSignal.timeout(100)})", 100],
    ['await page.waitFor({timeout: 9999})', 9999],
    ['await execa(node, [program], {timeout: 5000})', 5000],
    ['setTimeout(reject, 300)', 300],
    ["setTimeout(() => assert.fail('late'), 300)", 300],
    ['for (let i = 0; i < 100 && !isOver(); i++) await sleep(20)', 2000],
    ['for (let i = 0; i < 10; i++) { if (isOver()) break; await sleep(30) }', 300],
  ]
  for (const [source, ms] of found) it(`finds ${source}`, () => assert.deepEqual(limits(source), [ms]))

  const accepted = [
    'assert.ok(performance.now() - start < 10_000)',
    'assert.ok(performance.now() - start >= 200)',
    'assert.ok(elapsed.length < 5)',
    'for (; performance.now() - start < 200; writes++) write()',
    'await once(AbortSignal.timeout(10), "abort")',
    'await fetch(url, {signal: AbortSignal.timeout(100)})',
    'await connect({timeout: 500})',
    'setTimeout(() => stop.abort(), 300)',
    'for (let i = 0; i < 10; i++) { write(); await sleep(20) }',
    'for (let i = 0; i < 1000 && !isOver(); i++) await sleep(20)',
  ]
  for (const source of accepted) it(`accepts ${source}`, () => assert.deepEqual(limits(source), []))

  it('reports the line', () =>
    assert.deepEqual(timeLimits("\n\nit('x', {timeout: 5}, run)"), [{line: 3, ms: 5, min: 120_000}]))
})
