import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type Gate, type GateMode, gateNames} from '../../../src/tasks/gates/gate.js'
import {evaluateGates, gates} from '../../../src/tasks/gates/gates.js'
import {aContext, anEvidence, type Facts} from './support.js'

const failing = (name: Gate['name'], mode: GateMode, facts: Partial<Gate> = {}): Gate => ({
  name,
  family: 'debug',
  mode: () => mode,
  evaluate: () => [{rule: `${name}/wrong`, severity: 'error', message: 'It is wrong.'}],
  ...facts,
})
const broken = (): never => {
  throw new Error('no disk')
}

describe('the completion gates', () => {
  it('are in the published order, each with the counter of its family', () => {
    assert.deepEqual(
      gates.map(({name}) => name),
      gateNames,
    )
    assert.deepEqual(
      gates.filter(({family}) => family !== 'debug').map(({name, family}) => [name, family]),
      [
        ['trust', 'toestub'],
        ['toestub', 'toestub'],
        ['grounding', 'socrates'],
        ['socrates', 'socrates'],
      ],
    )
  })

  it('pass a plain completion under the default configuration', () => {
    const {results, blocking} = evaluateGates(anEvidence())
    assert.deepEqual(
      results.map(({gate, verdict}) => [gate, verdict]),
      [
        ['toestub', 'pass'],
        ['links', 'pass'],
      ],
    )
    assert.equal(blocking, undefined)
  })

  it('are all evaluated; the first failed one blocks', () => {
    const evaluation = evaluateGates(
      anEvidence({
        task: {category: 'research'},
        attestation: {completion_summary: 'TODO'},
        config: {socratesGateEnforce: true},
        context: aContext({required_citations: 1}),
      }),
    )
    const failed = evaluation.results.filter(({verdict}) => verdict === 'fail').map(({gate}) => gate)
    assert.deepEqual(failed, ['research', 'toestub', 'socrates'])
    assert.deepEqual(evaluation.blocking, {gate: 'research', family: 'debug'})
  })

  it('block only if they enforce', () => {
    const evaluation = evaluateGates(anEvidence(), [
      failing('behavioral', 'off'),
      failing('harness', 'shadow'),
      failing('links', 'enforce', {family: 'toestub'}),
    ])
    assert.deepEqual(
      evaluation.results.map(({gate, verdict, shadow}) => [gate, verdict, shadow]),
      [
        ['harness', 'fail', true],
        ['links', 'fail', false],
      ],
    )
    assert.deepEqual(evaluation.blocking, {gate: 'links', family: 'toestub'})
  })

  it('report the same result for the same evidence', () => {
    const evidence = anEvidence({attestation: {completion_summary: 'a stub'}})
    assert.deepEqual(evaluateGates(evidence), evaluateGates(evidence))
  })

  const relaxing: Facts = {config: {trustGateRelaxEnabled: true}, reliability: 1}
  const brokenGates: readonly [string, Gate, shadow: boolean][] = [
    ['a broken evaluation', failing('socrates', 'enforce', {evaluate: broken}), false],
    ['a broken evaluation in shadow mode', failing('socrates', 'shadow', {evaluate: broken}), true],
    ['a broken mode', failing('socrates', 'shadow', {mode: broken}), false],
    ['broken details', failing('socrates', 'enforce', {details: broken}), false],
    ['a broken exemption', failing('socrates', 'enforce', {relaxes: broken}), false],
    [
      'a broken evaluation of an exempted agent',
      failing('socrates', 'enforce', {evaluate: broken, relaxes: () => true}),
      false,
    ],
  ]
  for (const [name, gate, shadow] of brokenGates)
    it(`fail with ${name}`, () => {
      const {results, blocking} = evaluateGates(anEvidence(relaxing), [gate])
      assert.deepEqual(results, [
        {
          gate: 'socrates',
          verdict: 'fail',
          shadow,
          findings: [{rule: 'gate/cannot-run', severity: 'error', message: 'The gate socrates could not run: no disk'}],
        },
      ])
      assert.equal(blocking === undefined, shadow)
    })

  it('report at most 50 findings, errors first, and count the rest', () => {
    const evaluate = () =>
      Array.from({length: 200}, (_, i) => ({
        rule: `links/${i}`,
        severity: i === 199 ? ('error' as const) : ('info' as const),
        message: 'It is wrong.',
      }))
    const [result] = evaluateGates(anEvidence(), [failing('links', 'enforce', {evaluate})]).results
    assert.equal(result?.verdict, 'fail')
    assert.equal(result?.findings.length, 50)
    assert.equal(result?.findings[0]?.rule, 'links/199')
    assert.deepEqual(result?.findings.at(-1), {
      rule: 'gate/more-findings',
      severity: 'info',
      message: '151 more findings are not shown. Fix the ones above first.',
    })
  })
})

describe('the exemption of reliable agents', () => {
  const cases: readonly [string, reliability: number | undefined, enabled: boolean, verdict: string][] = [
    ['applies at the minimum', 0.85, true, 'relaxed'],
    ['applies above the minimum', 0.9, true, 'relaxed'],
    ['does not apply below the minimum', 0.849, true, 'fail'],
    ['does not apply without a stored reliability', undefined, true, 'fail'],
    ['does not apply if it is off', 1, false, 'fail'],
  ]
  for (const [name, reliability, enabled, verdict] of cases)
    it(name, () => {
      const {results, blocking} = evaluateGates(
        anEvidence({
          config: {
            trustGateRelaxEnabled: enabled,
            trustGateRelaxMinReliability: 0.85,
            socratesGateEnforce: true,
            completionGroundingEnforce: true,
          },
          reliability,
          context: aContext({required_citations: 1}),
          attestation: {evidence_citations: ['missing'], checks_passed: ['t'], declared_non_placeholder: true},
          summary: 'The work is complete and tested.',
        }),
      )
      const verdicts = Object.fromEntries(results.map((result) => [result.gate, result.verdict]))
      assert.deepEqual(verdicts, {toestub: 'pass', links: 'pass', grounding: verdict, socrates: verdict})
      assert.deepEqual(blocking, verdict === 'fail' ? {gate: 'grounding', family: 'socrates'} : undefined)
    })

  it('does not apply to other gates', () => {
    const {blocking} = evaluateGates(
      anEvidence({
        config: {trustGateRelaxEnabled: true},
        reliability: 1,
        attestation: {completion_summary: 'It is a stub.'},
      }),
    )
    assert.deepEqual(blocking, {gate: 'toestub', family: 'toestub'})
  })
})
