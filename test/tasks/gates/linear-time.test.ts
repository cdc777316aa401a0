import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {evaluateGates} from '../../../src/tasks/gates/gates.js'
import {aContext, anEvidence} from './support.js'

/** Maximum length of a summary, characters. */
const maxLength = 131_072
/** A quadratic expression would need minutes, ms. */
const patience = 10_000

describe('the gates', () => {
  const pieces = [
    'a',
    '1',
    '1.',
    '1-',
    '1,',
    ',',
    '.',
    ' ',
    '\n',
    '[',
    '[[svccite:',
    '[[svccite:a]]',
    'stub ',
    'stub(',
    'no ',
    'no stub, ',
    'not ',
    'not \n',
    'removed the ',
    '-',
    '> ',
    '1a',
    '_',
    'might',
    '`',
    '```\n',
    '"',
    '\u00e4',
    '1) ',
    '{"a":',
    'é1',
  ]
  for (const piece of pieces)
    it(`evaluate a long summary of ${JSON.stringify(piece)} quickly`, () => {
      const text = `${piece.repeat(Math.ceil(maxLength / piece.length)).slice(0, maxLength - 1)}!`
      const evidence = anEvidence({
        task: {category: 'research', description: text},
        attestation: {completion_summary: text, acceptance: [{line: text, check: 'test'}]},
        envelopeText: text.slice(1),
        context: aContext({factual_mode: true, required_citations: 1}),
        harness: {accept: [text]},
        config: {completionGroundingEnforce: true, socratesGateEnforce: true, harnessCompletionGuard: 'enforce'},
      })
      const start = performance.now()
      const {results} = evaluateGates(evidence)
      assert.ok(performance.now() - start < patience)
      assert.ok(results.every(({findings}) => findings.every(({message}) => message.length < 1000)))
    })
})
