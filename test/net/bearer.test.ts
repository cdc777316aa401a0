import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {bearerToken, hasBearerToken} from '../../src/net/index.js'

describe('bearerToken', () => {
  for (const [header, token] of [
    ['Bearer abc', 'abc'],
    ['bEaReR\tabc', 'abc'],
    ['  BEARER   abc  ', 'abc'],
    ['Bearer of two words', 'of two words'],
    ['Bearer ', undefined],
    ['Bearerabc', undefined],
    ['Basic abc', undefined],
    ['abc', undefined],
    [undefined, undefined],
  ] as const)
    it(`reads ${JSON.stringify(token)} from ${JSON.stringify(header)}`, () => {
      assert.equal(bearerToken(header), token)
      assert.equal(hasBearerToken(header, 'abc'), token === 'abc')
    })

  it('does not take quadratic time', () => {
    const spaces = ' '.repeat(1 << 20)
    assert.equal(bearerToken(`Bearer ${spaces}`), undefined)
    assert.equal(bearerToken(`Bearer a${spaces}b${spaces}`), `a${spaces}b`)
  })
})
