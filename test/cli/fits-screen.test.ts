import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {fitsScreen} from '../../src/cli/orch-command.js'

describe('fitsScreen', () => {
  const screen = {isTTY: true, columns: 10, rows: 4}
  for (const [text, expected] of [
    ['1\n2\n3\n', true],
    ['1\n2\n3\n4\n', false],
    ['a wrapped line\n3\n', true],
    ['a wrapped line\n3\n4\n', false],
  ] as const)
    it(`is ${expected} for ${JSON.stringify(text)} on 4 rows of 10 columns`, () => {
      assert.equal(fitsScreen(text, screen), expected)
    })

  it('is false without a terminal', () => assert.equal(fitsScreen('1\n', {...screen, isTTY: false}), false))
})
