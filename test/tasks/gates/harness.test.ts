import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {Harness} from '../../../src/tasks/gates/evidence.js'
import {harnessState} from '../../../src/tasks/gates/harness-state.js'
import {aCheck, aFile, anEvidence, type Facts, outcomeOf, resultOf} from './support.js'

const outcome = (harness: Partial<Harness>, facts: Facts = {}) =>
  outcomeOf('harness', {config: {harnessCompletionGuard: 'enforce'}, harness, ...facts})

describe('the harness gate', () => {
  const harness = {required_checks: [{check: 'test'}]}
  const modes = [
    ['off', 'off'],
    ['shadow', 'shadow fail harness/check-missing'],
    ['warn', 'shadow fail harness/check-missing'],
    ['enforce', 'fail harness/check-missing'],
    ['strict', 'fail harness/check-missing'],
  ] as const
  for (const [harnessCompletionGuard, expected] of modes)
    it(`has the mode ${harnessCompletionGuard}`, () =>
      assert.equal(outcomeOf('harness', {config: {harnessCompletionGuard}, harness}), expected))

  it('passes a task without requirements', () => assert.equal(outcome({}), 'pass'))

  it('fails closed if a pattern is invalid', () => {
    const covers = ['{a,b}'.repeat(12)]
    const facts = {files: [aFile('a.ts')], checks: [aCheck('test')]}
    assert.equal(outcome({required_checks: [{check: 'test', covers}]}, facts), 'fail gate/cannot-run')
  })
})

describe('a required check', () => {
  const required = {required_checks: [{check: 'test'}]}
  const cases: readonly [name: string, facts: Facts, outcome: string][] = [
    ['is met by a run of svc', {checks: [aCheck('test')]}, 'pass'],
    ['is met by an observed run', {checks: [aCheck('test', {grade: 'observed'})]}, 'pass'],
    ['is missing', {checks: [aCheck('lint')]}, 'fail harness/check-missing'],
    ['has failed', {checks: [aCheck('test', {passed: false})]}, 'fail harness/check-failed'],
    [
      'has failed in its latest run',
      {checks: [aCheck('test', {passed: false, started_at_ms: 3000}), aCheck('test')]},
      'fail harness/check-failed',
    ],
    ['is only claimed', {checks: [aCheck('test', {grade: 'claimed'})]}, 'fail harness/check-unverified'],
    ['is only reported', {checks: [aCheck('test', {grade: 'reported'})]}, 'fail harness/check-unverified'],
    [
      'is older than a change',
      {checks: [aCheck('test')], files: [aFile('a.ts', {written_at_ms: 2001})]},
      'fail harness/check-stale',
    ],
    [
      'is older than a deletion',
      {checks: [aCheck('test')], files: [aFile('a.ts', {change: 'deleted', written_at_ms: 2001})]},
      'fail harness/check-stale',
    ],
    ['is as old as a change', {checks: [aCheck('test')], files: [aFile('a.ts', {written_at_ms: 2000})]}, 'pass'],
    [
      'is older than a file that is unchanged',
      {checks: [aCheck('test')], files: [aFile('a.ts', {change: 'unchanged', written_at_ms: 2001})]},
      'pass',
    ],
    [
      'has no start time',
      {checks: [{check: 'test', grade: 'observed', passed: true}], files: [aFile('a.ts')]},
      'fail harness/check-stale',
    ],
    [
      'is reported as passed although it failed',
      {checks: [aCheck('test', {passed: false})], attestation: {checks_passed: ['test']}},
      'fail harness/check-failed harness/false-report',
    ],
  ]
  for (const [name, facts, expected] of cases) it(name, () => assert.equal(outcome(required, facts), expected))

  it('is reported with what failed and what to do', () => {
    const facts = {checks: [aCheck('test', {passed: false, reason: 'exit status 2'})]}
    const config = {harnessCompletionGuard: 'enforce'} as const
    assert.equal(
      resultOf('harness', {config, harness: required, ...facts})?.findings[0]?.message,
      'The check "test" failed: exit status 2. It is required. Fix the cause and run it again.',
    )
  })

  it('is stale only if it covers the changed file', () => {
    const files = [aFile('src/a.ts', {written_at_ms: 1}), aFile('docs/a.md', {written_at_ms: 9000})]
    const check = (covers: string[]) =>
      outcome({required_checks: [{check: 'test', covers}]}, {files, checks: [aCheck('test')]})
    assert.equal(check(['src/**']), 'pass')
    assert.equal(check(['src/**', 'docs/*.md']), 'fail harness/check-stale')
  })
})

describe('a false report', () => {
  it('is found for checks that are not required', () => {
    const checks = [aCheck('lint', {passed: false})]
    assert.equal(outcome({}, {checks, attestation: {checks_passed: ['lint']}}), 'fail harness/false-report')
    assert.equal(outcome({}, {checks: [...checks, aCheck('lint', {grade: 'reported'})]}), 'fail harness/false-report')
    assert.equal(outcome({}, {checks}), 'pass')
  })

  it('is not found if a later run passed', () => {
    const checks = [aCheck('lint', {passed: false}), aCheck('lint', {started_at_ms: 2001})]
    assert.equal(outcome({}, {checks, attestation: {checks_passed: ['lint']}}), 'pass')
  })
})

describe('an untested edit', () => {
  const edit = (path: string, covers: string[] | undefined = ['src/**']) =>
    outcome(
      {required_checks: [{check: 'test', ...(covers !== undefined && {covers})}]},
      {files: [aFile(path)], checks: [aCheck('test')]},
    )
  it('is a changed code file that no required check covers', () => {
    assert.equal(edit('lib/a.ts'), 'fail harness/untested-edit')
    assert.equal(edit('Makefile'), 'fail harness/untested-edit')
    assert.equal(edit('src/a.ts'), 'pass')
  })

  it('is not a document, a data file or an image', () => {
    for (const path of ['a.md', 'A.TXT', 'a.rst', 'a.adoc', 'a.json', 'a.yaml', 'a.yml', 'a.png', 'a.svg'])
      assert.equal(edit(path), 'pass', path)
  })

  it('is not found without patterns', () => {
    const files = [aFile('lib/a.ts')]
    assert.equal(outcome({required_checks: [{check: 'test'}]}, {files, checks: [aCheck('test')]}), 'pass')
    assert.equal(outcome({}, {files}), 'pass')
  })
})

describe('a required artifact', () => {
  const cases: readonly [name: string, artifact: string, facts: Facts, outcome: string][] = [
    ['is met by a changed file', 'docs/a.md', {files: [aFile('docs/a.md')]}, 'pass'],
    ['is met by a created file', './docs/a.md', {files: [aFile('docs/a.md', {change: 'created'})]}, 'pass'],
    ['can be a pattern', 'docs/*.md', {files: [aFile('docs/a.md')]}, 'pass'],
    ['is missing', 'docs/*.md', {files: [aFile('docs/a.txt')]}, 'fail harness/artifact-missing'],
    ['is unchanged', 'a.md', {files: [aFile('a.md', {change: 'unchanged'})]}, 'fail harness/artifact-missing'],
    ['is deleted', 'a.md', {files: [aFile('a.md', {change: 'deleted'})]}, 'fail harness/artifact-missing'],
    ['is only claimed', 'a.md', {attestation: {artifact_paths: ['a.md']}}, 'fail harness/artifact-missing'],
  ]
  for (const [name, artifact, facts, expected] of cases)
    it(name, () => assert.equal(outcome({required_artifacts: [artifact]}, facts), expected))
})

describe('an acceptance line', () => {
  const line = 'The parser reads numbers'
  const tagged = `${line} [[check:test]]`
  const checks = [aCheck('test')]
  const cases: readonly [name: string, line: string, facts: Facts, outcome: string][] = [
    ['is owed without evidence', line, {checks}, 'fail harness/accept-owed'],
    ['is met by the check of its tag', tagged, {checks}, 'pass'],
    ['is owed if the check of its tag did not run', tagged, {}, 'fail harness/accept-owed'],
    ['is void if its check failed', tagged, {checks: [aCheck('test', {passed: false})]}, 'fail harness/accept-void'],
    [
      'is void if its check is stale',
      tagged,
      {checks, files: [aFile('a.ts', {written_at_ms: 2001})]},
      'fail harness/accept-void',
    ],
    [
      'is unverified if its check is only reported',
      tagged,
      {checks: [aCheck('test', {grade: 'reported'})]},
      'fail harness/accept-unverified',
    ],
    ['is met by the file of its tag', `${line} [[file:src/*.ts]]`, {files: [aFile('src/a.ts')]}, 'pass'],
    [
      'is void if its file is unchanged',
      `${line} [[file:src/a.ts]]`,
      {files: [aFile('src/a.ts', {change: 'unchanged'})]},
      'fail harness/accept-void',
    ],
    ['needs the evidence of every tag', `${tagged} [[file:a.ts]]`, {checks}, 'fail harness/accept-owed'],
    [
      'is met by a claim for its text',
      line,
      {checks, attestation: {acceptance: [{line: ` ${line} `, check: 'test'}]}},
      'pass',
    ],
    [
      'is met by a claim for its position',
      line,
      {checks, attestation: {acceptance: [{line: 1, check: 'test'}]}},
      'pass',
    ],
    [
      'is unverified if svc did not observe the claimed check',
      line,
      {attestation: {acceptance: [{line: 1, check: 'test'}]}},
      'fail harness/accept-unverified',
    ],
    [
      'is unverified if the claim names no evidence',
      line,
      {attestation: {acceptance: [{line: 1}]}},
      'fail harness/accept-unverified',
    ],
    [
      'is unverified if svc did not observe the claimed file',
      line,
      {attestation: {acceptance: [{line: 1, file: 'a.ts'}]}},
      'fail harness/accept-unverified',
    ],
    [
      'cannot be claimed with other evidence than its tag',
      tagged,
      {files: [aFile('a.ts')], attestation: {acceptance: [{line, file: 'a.ts'}]}},
      'fail harness/accept-owed',
    ],
    [
      'stays owed if the claim is for another line',
      line,
      {checks, attestation: {acceptance: [{line: 2, check: 'test'}]}},
      'fail harness/accept-owed harness/accept-unknown',
    ],
  ]
  for (const [name, text, facts, expected] of cases)
    it(name, () => assert.equal(outcome({accept: [text]}, facts), expected))

  it('needs its own mapping', () => {
    const attestation = {acceptance: [{line: 1, check: 'test'}]}
    assert.equal(outcome({accept: ['One', 'Two']}, {checks, attestation}), 'fail harness/accept-owed')
  })

  it('is stale only for the files that its required check covers', () => {
    const files = [aFile('docs/a.md', {written_at_ms: 9000})]
    const required_checks = [{check: 'test', covers: ['src/**']}]
    assert.equal(outcome({accept: [tagged], required_checks}, {checks, files}), 'pass')
  })

  it('is warned about, but does not fail, if the task does not have it', () => {
    const attestation = {acceptance: [{line: 'Another', check: 'test'}]}
    assert.equal(outcome({}, {attestation}), 'pass harness/accept-unknown')
  })
})

describe('the state of a harness', () => {
  it('has the source, grade and time of each piece of evidence', () => {
    const state = harnessState(
      anEvidence({
        harness: {required_checks: [{check: 'test'}, {check: 'lint'}], accept: ['One [[file:a.ts]]', 'Two']},
        files: [aFile('a.ts')],
        checks: [aCheck('test')],
      }),
    )
    assert.deepEqual(state, {
      checks: [
        {check: 'test', state: 'met', source: {check: 'test'}, grade: 'verified', at_ms: 2000},
        {
          check: 'lint',
          state: 'owed',
          problem: 'missing',
          source: {check: 'lint'},
          reason: 'The check "lint" did not run.',
        },
      ],
      acceptance: [
        {line: 'One [[file:a.ts]]', state: 'met', source: {file: 'a.ts'}, grade: 'observed', at_ms: 1000},
        {line: 'Two', state: 'owed', problem: 'missing', reason: 'No check or file is named as its evidence.'},
      ],
      unknownClaims: [],
    })
  })
})
