import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {GateName} from '../../../src/tasks/gates/gate.js'
import {aCheck, aFile, type Facts, outcomeOf, resultOf} from './support.js'

type Cases = readonly [name: string, facts: Facts, outcome: string][]

function table(gate: GateName, cases: Cases) {
  for (const [name, facts, outcome] of cases) it(name, () => assert.equal(outcomeOf(gate, facts), outcome))
}

describe('the behavioral gate', () => {
  const config = {behavioralGateOnComplete: true, behavioralGateCommand: ['test', 'lint']}
  table('behavioral', [
    ['is off by default', {}, 'off'],
    ['passes if all commands passed', {config, checks: [aCheck('test'), aCheck('lint')]}, 'pass'],
    ['fails if a command was not run', {config, checks: [aCheck('test')]}, 'fail behavioral/not-run'],
    [
      'fails if svc did not run the command for this completion',
      {config, checks: [aCheck('test'), aCheck('lint', {grade: 'observed'})]},
      'fail behavioral/not-run',
    ],
    [
      'fails if the latest run of a command failed',
      {config, checks: [aCheck('lint'), aCheck('test'), aCheck('test', {passed: false, started_at_ms: 3000})]},
      'fail behavioral/failed',
    ],
    [
      'passes if a command passed after it had failed',
      {config, checks: [aCheck('test', {passed: false, started_at_ms: 1}), aCheck('test'), aCheck('lint')]},
      'pass',
    ],
    ['fails without a command', {config: {...config, behavioralGateCommand: []}}, 'fail behavioral/no-command'],
  ])

  it('states why a command failed', () => {
    const checks = [aCheck('lint'), aCheck('test', {passed: false, reason: 'exit status 1'})]
    assert.equal(
      resultOf('behavioral', {config, checks})?.findings[0]?.message,
      'The command "test" failed: exit status 1. Fix the cause.',
    )
  })
})

describe('the hidden gate', () => {
  table('hidden', [
    ['is off without hidden checks', {}, 'off'],
    ['passes', {hiddenPassed: true}, 'pass'],
    ['fails', {hiddenPassed: false}, 'fail hidden/failed'],
    [
      'fails for a reliable agent, too',
      {hiddenPassed: false, reliability: 1, config: {trustGateRelaxEnabled: true}},
      'fail hidden/failed',
    ],
  ])
})

describe('the research gate', () => {
  const task = {category: 'research'} as const
  table('research', [
    ['is off for other tasks', {summary: 'text'}, 'off'],
    ['passes an object', {task, summary: ' {"a": 1}\n'}, 'pass'],
    ['passes an array', {task, summary: '[]'}, 'pass'],
    ['passes JSON in a fence', {task, summary: '```json\n{"a": [1]}\n```\n'}, 'pass'],
    ['passes JSON in a fence without a language', {task, summary: '```\r\n{}\r\n```'}, 'pass'],
    ['fails prose', {task, summary: 'I found it.'}, 'fail research/not-json'],
    ['fails prose around JSON', {task, summary: 'Result:\n```json\n{}\n```'}, 'fail research/not-json'],
    ['fails an unclosed fence', {task, summary: '```json\n{}'}, 'fail research/not-json'],
    ['fails a scalar', {task, summary: '42'}, 'fail research/not-json'],
    ['fails null', {task, summary: 'null'}, 'fail research/not-json'],
    ['fails an empty summary', {task}, 'fail research/not-json'],
    ['fails deeply nested text that is not closed', {task, summary: '['.repeat(131_072)}, 'fail research/not-json'],
  ])
})

describe('the approval gate', () => {
  const config = {attentionEnabled: true}
  const claim = {attestation: {checks_passed: ['human_review_approved']}}
  const approvals = [{by: 'ada'}]
  table('approval', [
    ['is off without a tier', {config}, 'off'],
    ['is off for tasks that need no approval', {config, approval_tier: 'auto_approve'}, 'off'],
    ['is off if attention is off', {approval_tier: 'blocked'}, 'off'],
    ['fails a task that must be confirmed', {config, approval_tier: 'confirm'}, 'fail approval/not-confirmed'],
    [
      'passes a confirmation by a check',
      {config, approval_tier: 'confirm', attestation: {checks_passed: ['test']}},
      'pass',
    ],
    [
      'passes a confirmation by a declaration',
      {config, approval_tier: 'confirm', attestation: {declared_non_placeholder: true}},
      'pass',
    ],
    ['passes a review by somebody else', {config, approval_tier: 'review', ...claim, approvals}, 'pass'],
    ['passes a blocked task after a review', {config, approval_tier: 'blocked', ...claim, approvals}, 'pass'],
    ['fails a mere claim of a review', {config, approval_tier: 'review', ...claim}, 'fail approval/not-reviewed'],
    [
      'fails an approval by the worker',
      {config, approval_tier: 'blocked', ...claim, approvals: [{by: 'builder'}], worker: 'builder'},
      'fail approval/not-reviewed',
    ],
    [
      'fails without an attestation',
      {config, approval_tier: 'review', attestation: {checks_passed: ['test']}, approvals},
      'fail approval/not-attested',
    ],
  ])
})

describe('the trust gate', () => {
  const completionTrust = {score: 0.2, outcomes: 5}
  table('trust', [
    ['is off without a history', {}, 'off'],
    ['is off for a newcomer', {completionTrust: {score: 0, outcomes: 4}}, 'off'],
    ['passes at the floor', {completionTrust: {score: 0.25, outcomes: 5}}, 'pass'],
    ['fails below the floor without a check', {completionTrust}, 'fail trust/no-check'],
    ['passes a reported check', {completionTrust, attestation: {checks_passed: ['test']}}, 'pass'],
    ['passes an observed check', {completionTrust, checks: [aCheck('test', {grade: 'observed'})]}, 'pass'],
    ['fails a failed check', {completionTrust, checks: [aCheck('test', {passed: false})]}, 'fail trust/no-check'],
    ['fails a claimed check', {completionTrust, checks: [aCheck('t', {grade: 'claimed'})]}, 'fail trust/no-check'],
    ['fails an invalid score', {completionTrust: {score: Number.NaN, outcomes: 9}}, 'fail trust/no-check'],
  ])
})

describe('the links gate', () => {
  const broken = {rule: 'links/missing-file', severity: 'error', line: 3, message: 'The file does not exist.'} as const
  const files = [aFile('a.md', {findings: [broken]})]
  table('links', [
    ['passes without files', {}, 'pass'],
    ['is off if the audit is off', {config: {completionMarkdownLinkAuditEnabled: false}, files}, 'off'],
    ['fails a broken link', {files}, 'fail links/missing-file'],
    [
      'passes a broken link that is older than the claim',
      {files: [aFile('a.md', {findings: [{...broken, severity: 'info'}]})]},
      'pass links/missing-file',
    ],
    ['ignores other findings', {files: [aFile('a.md', {findings: [{...broken, rule: 'stub/todo'}]})]}, 'pass'],
  ])

  it('reports the file of each finding', () => {
    assert.deepEqual(resultOf('links', {files})?.findings, [{path: 'a.md', ...broken}])
  })
})
