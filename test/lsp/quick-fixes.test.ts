import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {TextDocument} from 'vscode-languageserver-textdocument'
import {checkProgram} from '../../src/lang/index.js'
import {quickFixes} from '../../src/lsp/quick-fixes.js'

const source = 'fn total(price: int) to int { return prise }\n'
const document = TextDocument.create('file:///a.svc', 'svc', 1, source)
const program = checkProgram(source)
const start = source.indexOf('prise')

const fixesAt = (offset: number) => {
  const place = document.positionAt(offset)
  return quickFixes(document, {start: place, end: place}, undefined, program)
}

describe('quick fixes at a cursor', () => {
  for (const [where, offset, count] of [
    ['before the blank in front of a word', start - 1, 0],
    ['in front of a word', start, 1],
    ['within a word', start + 2, 1],
    ['directly after a word', start + 5, 1],
    ['further after a word', start + 6, 0],
  ] as const)
    it(`${where} are ${count}`, () => {
      assert.equal(fixesAt(offset).length, count)
    })
})
