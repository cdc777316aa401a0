import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {Fields} from '../../src/serve/body.js'
import {readKeepAlive} from '../../src/serve/keep-alive.js'
import {refusal} from './samples.js'

describe('readKeepAlive', () => {
  const accepted: [unknown, number | 'forever' | undefined][] = [
    [undefined, undefined],
    [null, undefined],
    [1800, 1_800_000],
    [0.5, 500],
    [0, 0],
    [-1, 'forever'],
    [1e300, 'forever'],
    ['10m', 600_000],
    ['1h30m', 5_400_000],
    ['300ms', 300],
    ['1.5s', 1500],
    ['.5s', 500],
    ['2.s', 2000],
    ['+1s', 1000],
    ['1000000ns', 1],
    ['250us', 0.25],
    ['250µs', 0.25],
    ['0', 0],
    ['0s', 0],
    ['-1m', 'forever'],
    ['9999999999999h', 'forever'],
  ]
  for (const [value, expected] of accepted)
    it(`reads ${JSON.stringify(value)} as ${expected} ms`, () =>
      assert.equal(readKeepAlive(new Fields({keep_alive: value})), expected))

  for (const value of ['', '5', '-1', '5 m', '10x', 'm', '.', '.m', '1h30', '10m ', 'forever', true, [], {}])
    it(`rejects ${JSON.stringify(value)}`, () =>
      assert.throws(
        () => readKeepAlive(new Fields({keep_alive: value})),
        refusal('bad_request', 'keep_alive must be a number of seconds or a duration such as "10m"', 'keep_alive'),
      ))

  it('parses a string of the maximum body size in linear time', () => {
    const started = performance.now()
    assert.throws(() => readKeepAlive(new Fields({keep_alive: '1'.repeat(1 << 20)})))
    assert.ok(performance.now() - started < 10_000)
  })
})
