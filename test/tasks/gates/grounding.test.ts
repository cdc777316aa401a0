import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {factualClauses} from '../../../src/tasks/gates/clauses.js'
import {figuresIn} from '../../../src/tasks/gates/figures.js'
import {aCheck, aContext, aFile, type Facts, outcomeOf, resultOf} from './support.js'

const config = {completionGroundingEnforce: true}
const outcome = (facts: Facts) => outcomeOf('grounding', {config, ...facts})

describe('the grounding gate', () => {
  const summary = 'The parser reads all numbers.'
  const missing = {attestation: {evidence_citations: ['doc-1']}, envelopeText: 'doc-2'}
  it('is off by default, and records in shadow mode', () => {
    assert.equal(outcomeOf('grounding', missing), 'off')
    const shadow = {config: {completionGroundingShadow: true}, ...missing}
    assert.equal(outcomeOf('grounding', shadow), 'shadow fail grounding/declared_not_in_envelope')
  })

  it('exempts reliable agents', () => {
    const facts = {config: {...config, trustGateRelaxEnabled: true}, reliability: 0.85, ...missing}
    assert.equal(outcomeOf('grounding', facts), 'relaxed grounding/declared_not_in_envelope')
  })

  const cases: readonly [name: string, facts: Facts, outcome: string][] = [
    ['passes without evidence', {summary: 'It takes 12 ms for each file.'}, 'pass grounding/no_evidence_context'],
    ['passes declared citations', {envelopeText: 'see DOC-1.', attestation: {evidence_citations: [' doc-1 ']}}, 'pass'],
    [
      'fails a citation without an envelope',
      {attestation: {evidence_citations: ['a']}},
      'fail grounding/declared_not_in_envelope',
    ],
    ['passes a citation in the summary', {envelopeText: 'doc-1', summary: 'See [[svccite:doc-1]].'}, 'pass'],
    [
      'fails each missing citation once',
      {
        envelopeText: 'doc-1',
        summary: '[[svccite:doc-2]] [[svccite: doc-2 ]] [[svccite:DOC-3]]',
        attestation: {evidence_citations: ['doc-3', ' ']},
      },
      'fail grounding/declared_not_in_envelope grounding/declared_not_in_envelope',
    ],
    [
      'fails facts without citations',
      {summary, context: aContext({factual_mode: true, required_citations: 1})},
      'fail grounding/factual_without_declarations',
    ],
    ['passes facts if no citation is required', {summary, context: aContext({factual_mode: true})}, 'pass'],
    [
      'passes facts with a citation',
      {
        summary,
        context: aContext({factual_mode: true, required_citations: 1}),
        envelopeText: 'doc-1',
        attestation: {evidence_citations: ['doc-1']},
      },
      'pass',
    ],
    ['passes answers that need not be factual', {summary, context: aContext({required_citations: 1})}, 'pass'],
    [
      'passes hedged statements without citations',
      {summary: 'The parser might read numbers.', context: aContext({factual_mode: true, required_citations: 1})},
      'pass',
    ],
  ]
  for (const [name, facts, expected] of cases) it(name, () => assert.equal(outcome(facts), expected))
})

describe('a factual clause', () => {
  const cases: readonly [string, string[]][] = [
    [
      'The parser is fast. It reads numbers; it is small',
      ['The parser is fast', 'It reads numbers', 'it is small'].slice(0, 2),
    ],
    ['Is the parser fast? The parser is fast!', ['Is the parser fast', 'The parser is fast']],
    ['Version 1.2 of the file src/a.ts is used', ['Version 1.2 of the file src/a.ts is used']],
    ['It is probably much faster', []],
    ['Run the tests with npm', []],
    ['Then open the page', []],
    ['Then the throughput rose', ['Then the throughput rose']],
    ['- Fixed the parser\n2) Fixed the printer', ['Fixed the parser', 'Fixed the printer']],
    ['Too short.', []],
    ['The mighty parser is fast', ['The mighty parser is fast']],
  ]
  for (const [text, expected] of cases) it(JSON.stringify(text), () => assert.deepEqual(factualClauses(text), expected))
})

describe('the figures of a text', () => {
  const cases: readonly [string, string[]][] = [
    ['12 files', ['12']],
    ['312 files', ['312']],
    ['12ms, 12 %, $12, (12), ~12 and -12', ['12', '12', '12', '12', '12', '12']],
    ['1,204 or 1204 or 1_204', ['1204', '1204', '1204']],
    ['1,204.50', ['1204.5']],
    ['0.50 and .5', ['0.5', '0.5']],
    ['007', ['7']],
    ['1,2', ['1', '2']],
    ['10-20 and 3/4', ['10', '20', '3', '4']],
    ['2024-05-01 at 10:30', ['2024-05-01', '10:30']],
    ['version 1.2.3 and v1.2.3', ['1.2.3', '1.2.3']],
    ['sha256, T-0042, utf-8, p95, my_1, 3f2a9c', []],
    ['a 64-bit value', ['64']],
    ['the end is 12.', ['12']],
    ['12...', ['12']],
    ['none', []],
  ]
  for (const [text, expected] of cases)
    it(JSON.stringify(text), () =>
      assert.deepEqual(
        figuresIn(text).map(({key}) => key),
        expected,
      ),
    )
})

describe('a figure of a summary', () => {
  const invented = 'fail grounding/figure_not_in_evidence'
  const cases: readonly [name: string, facts: Facts, outcome: string][] = [
    ['can be in the envelope', {envelopeText: 'latency: 12', summary: 'The latency is now 12 ms.'}, 'pass'],
    ['can be formatted differently', {envelopeText: '1204', summary: 'It reads 1,204 records now.'}, 'pass'],
    ['must be a complete number', {envelopeText: '312', summary: 'The latency is now 12 ms.'}, invented],
    [
      'can be in the output of a check',
      {checks: [aCheck('t', {output: '# pass 99'})], summary: 'All 99 tests passed now.'},
      'pass',
    ],
    [
      'cannot be in the output of a reported check',
      {
        checks: [aCheck('t', {output: '98'}), aCheck('u', {grade: 'reported', output: '99'})],
        summary: 'All 99 tests passed now.',
      },
      invented,
    ],
    [
      'can be in the description',
      {envelopeText: '', task: {description: 'Make it 40 % faster'}, summary: 'It is now 40 % faster.'},
      'pass',
    ],
    [
      'can be in an acceptance line',
      {envelopeText: '', harness: {accept: ['Takes 5 s']}, summary: 'It takes only 5 s now.'},
      'pass',
    ],
    [
      'can be in a path',
      {envelopeText: '', files: [aFile('logs/77.txt')], summary: 'The log of run 77 is kept.'},
      'pass',
    ],
    [
      'can be a number of changed files',
      {
        envelopeText: '',
        files: [aFile('a.ts'), aFile('b.ts'), aFile('c.ts', {change: 'unchanged'})],
        summary: 'It changes 2 source files.',
      },
      'pass',
    ],
    [
      'can be a number of checks',
      {checks: [aCheck('a', {output: 'ok'}), aCheck('b')], summary: 'All of the 2 checks passed.'},
      'pass',
    ],
    ['can be the number of a list', {envelopeText: '', summary: '7. Fixed the parser\n8) Fixed the printer'}, 'pass'],
    ['can be in a clause that states no fact', {envelopeText: '', summary: 'It might be 40 % faster.'}, 'pass'],
    [
      'can be a date of the evidence',
      {envelopeText: 'on 2024-05-01', summary: 'It was released on 2024-05-01.'},
      'pass',
    ],
    ['cannot be another date', {envelopeText: 'on 2024-05-01', summary: 'It was released on 2024-05-02.'}, invented],
    ['can be an ordinal of the evidence', {envelopeText: 'the 2nd run', summary: 'It failed in the 2nd run.'}, 'pass'],
    [
      'can be in a citation',
      {envelopeText: 'source 12', summary: 'It is documented well [[svccite:source 12]].'},
      'pass',
    ],
    ['is reported once', {envelopeText: '', summary: 'It takes 12 ms now. It takes 12.0 ms always.'}, invented],
    [
      'is not judged without anything to compare with',
      {context: aContext(), summary: 'It takes 12 ms for each file.'},
      'pass',
    ],
  ]
  for (const [name, facts, expected] of cases) it(name, () => assert.equal(outcome(facts), expected))

  it('is reported with its clause', () => {
    assert.equal(
      resultOf('grounding', {config, envelopeText: '', summary: 'Done: throughput rose to 500 req/s.'})?.findings[0]
        ?.message,
      'The evidence of the task does not contain the figure 500 in "Done: throughput rose to 500 req/s". Correct or remove it.',
    )
  })
})
