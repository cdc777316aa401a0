import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {excerpt, plain} from '../../src/cli/orch-text.js'

describe('the excerpt of a text', () => {
  it('is the whole text where it fits into 72 characters', () => {
    assert.equal(excerpt('x'.repeat(72)), 'x'.repeat(72))
  })

  it('is cut at 72 characters, the ellipsis included', () => {
    assert.equal(excerpt('x'.repeat(73)), `${'x'.repeat(71)}…`)
  })

  it('is on one line', () => {
    assert.equal(excerpt(' one\r\ntwo\tthree\u001b[2J '), 'one two three [2J')
  })
})

describe('a text of several lines', () => {
  it('keeps its lines and tabs, and loses what would control the terminal', () => {
    assert.equal(plain('one\n\ttwo\u001b[2J\u0007\r\n'), 'one\n\ttwo[2J')
  })
})
