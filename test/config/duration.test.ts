import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {formatMoment, readDuration, readMoment} from '../../src/config/index.js'

const now = Date.UTC(2026, 0, 1)

describe('times that users write', () => {
  for (const [text, expected] of [
    ['+2h', now + 7_200_000],
    ['2026-12-01T08:00Z', Date.UTC(2026, 11, 1, 8)],
    ['9999-12-31T23:59:59Z', Date.UTC(9999, 11, 31, 23, 59, 59)],
    ['+365250d', now + 365_250 * 86_400_000],
    ['+99999999d', undefined],
    ['+9007199254740993ms', undefined],
    ['+-1s', undefined],
    ['2026-04-31', undefined],
    ['1969-12-31T00:00Z', undefined],
    ['tomorrow', undefined],
  ] as const)
    it(`${expected === undefined ? 'are not' : 'can be'} ${text}`, () => assert.equal(readMoment(text, now), expected))

  it('are durations of at most 1000 years', () => {
    assert.deepEqual(['90m', ' 1.5s', '365250d', '365251d', '-1s', '5', '1e3s'].map(readDuration), [
      5_400_000,
      1500,
      31_557_600_000_000,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('a stored time', () => {
  it('is shown even if it is no time, so that the list with it is shown', () => {
    assert.equal(formatMoment(now), '2026-01-01T00:00:00.000Z')
    for (const bad of [8.64e15 + 1, 2 ** 60, Number.NaN]) assert.equal(formatMoment(bad), `invalid time ${bad}`)
  })
})
