import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {openMarkers} from '../../../src/tasks/gates/markers.js'
import {aFile, type Facts, outcomeOf, resultOf} from './support.js'

const summary = 'The parser reads all the examples.'
const wrote = aFile('src/a.ts', {digest: '00'})
const attested = {completion_summary: summary, artifact_paths: ['src/a.ts']}
const writes = {file_manifest: [{path: 'src/a.ts', access: 'write' as const}]}

type Case = [name: string, facts: Facts, outcome: string]

describe('the toestub gate', () => {
  const finding = {rule: 'stub/todo-comment', severity: 'error', line: 2, message: 'A TODO comment.'} as const
  const cases: readonly Case[] = [
    ['is off', {config: {toestubGate: false}, attestation: {completion_summary: 'TODO'}}, 'off'],
    ['passes a completion without attestation', {}, 'pass'],
    ['passes a short summary without attestation', {attestation: {completion_summary: 'Done.'}}, 'pass'],
    ['passes a summary that an inference server wrote', {summary: 'This is a stub, to be replaced.'}, 'pass'],
    [
      'fails a marker without further attestation',
      {attestation: {completion_summary: 'The parser is a stub.'}},
      'fail policy/marker',
    ],
    [
      'passes a complete attestation of a writing task',
      {task: writes, files: [wrote], attestation: {completion_summary: summary, artifact_paths: ['./src//a.ts']}},
      'pass',
    ],
    [
      'fails if a written file is not listed',
      {
        task: writes,
        files: [wrote, aFile('src/b.ts')],
        attestation: {completion_summary: summary, artifact_paths: ['src/b.ts']},
      },
      'fail policy/artifact-not-listed',
    ],
    ...(['absent', 'unchanged'] as const).map(
      (change): Case => [
        `fails an artifact that is ${change}`,
        {task: writes, files: [{...wrote, change}], attestation: attested},
        `fail policy/artifact-${change}`,
      ],
    ),
    [
      'fails an artifact that no file of the workspace is',
      {attestation: {...attested, artifact_paths: ['../x', 'lib/*.ts'], declared_non_placeholder: true}},
      'fail policy/artifact-absent policy/artifact-absent',
    ],
    [
      'fails an absent artifact despite an accepted risk and a reason for no change',
      {
        files: [{...wrote, change: 'absent'}],
        attestation: {...attested, force_risky: true, force_risky_reason: 'Urgent.', no_change_needed: 'It is right.'},
      },
      'fail policy/risk-accepted policy/artifact-absent',
    ],
    [
      'passes an unchanged artifact with an accepted risk',
      {
        task: writes,
        files: [{...wrote, change: 'unchanged'}],
        attestation: {...attested, force_risky: true, force_risky_reason: 'Urgent.'},
      },
      'pass policy/risk-accepted',
    ],
    [
      'passes an unchanged artifact with a reason for no change',
      {
        task: writes,
        files: [{...wrote, change: 'unchanged'}],
        attestation: {...attested, no_change_needed: 'The parser does that already.'},
      },
      'pass policy/no-change-accepted',
    ],
    [
      'fails an unchanged artifact with a blank reason for no change',
      {task: writes, files: [{...wrote, change: 'unchanged'}], attestation: {...attested, no_change_needed: ' '}},
      'fail policy/artifact-unchanged',
    ],
    [
      'passes an unchanged artifact of a task that writes no file',
      {files: [{...wrote, change: 'unchanged'}], attestation: {...attested, declared_non_placeholder: true}},
      'pass',
    ],
    [
      'passes an artifact that the task deleted, and one that is too large for a digest',
      {
        task: writes,
        files: [{...wrote, change: 'deleted'}, aFile('big.bin', {change: 'unchanged'})],
        attestation: {...attested, artifact_paths: ['src/a.ts', 'big.bin']},
      },
      'pass',
    ],
    [
      'does not require files that are only read',
      {
        task: {file_manifest: [{path: 'a', access: 'read'}]},
        attestation: {completion_summary: summary, checks_passed: ['test'], declared_non_placeholder: true},
      },
      'pass',
    ],
    [
      'fails a task without files that is not declared as complete',
      {attestation: {completion_summary: summary, checks_passed: ['test']}},
      'fail policy/not-declared',
    ],
    [
      'fails an attestation without files and checks',
      {attestation: {completion_summary: summary, declared_non_placeholder: true}},
      'fail policy/no-proof',
    ],
    [
      'fails a summary of 23 characters',
      {
        attestation: {
          completion_summary: 'x'.repeat(23),
          checks_passed: ['test'],
          declared_non_placeholder: true,
        },
      },
      'fail policy/short-summary',
    ],
    [
      'passes a summary of 24 characters',
      {attestation: {completion_summary: 'x'.repeat(24), checks_passed: ['t'], declared_non_placeholder: true}},
      'pass',
    ],
    [
      'requires a complete attestation as soon as acceptance is claimed',
      {attestation: {acceptance: []}},
      'fail policy/not-declared policy/short-summary policy/no-proof',
    ],
    [
      'passes an accepted risk with a reason',
      {task: writes, attestation: {force_risky: true, force_risky_reason: 'The fix is urgent.'}},
      'pass policy/risk-accepted',
    ],
    [
      'fails an accepted risk with a blank reason',
      {attestation: {force_risky: true, force_risky_reason: ' \n'}},
      'fail policy/risk-without-reason',
    ],
    ['fails a finding of the scan', {files: [aFile('a.ts', {findings: [finding]})]}, 'fail stub/todo-comment'],
    [
      'fails a finding of the scan despite an accepted risk',
      {
        attestation: {force_risky: true, force_risky_reason: 'The fix is urgent.'},
        files: [aFile('a.ts', {findings: [{...finding, severity: 'critical'}]})],
      },
      'fail policy/risk-accepted stub/todo-comment',
    ],
    [
      'ignores warnings, older findings and links',
      {
        files: [
          aFile('a.ts', {
            findings: [
              {...finding, severity: 'warning'},
              {...finding, severity: 'info'},
            ],
          }),
          aFile('a.md', {findings: [{...finding, rule: 'links/missing-file'}]}),
        ],
      },
      'pass',
    ],
  ]
  for (const [name, facts, outcome] of cases) it(name, () => assert.equal(outcomeOf('toestub', facts), outcome))

  it('records the reason of an accepted risk', () => {
    const attestation = {force_risky: true, force_risky_reason: 'The fix is urgent.'}
    assert.match(resultOf('toestub', {attestation})?.findings[0]?.message ?? '', /The fix is urgent\./)
  })
})

describe('a marker of unfinished work', () => {
  const open = [
    'TODO',
    'todo: write the tests',
    'Two TODOs remain.',
    'The value is TBD.',
    'It uses a placeholder.',
    'The handler is a stub',
    'Replaced it with a stub.',
    'Replaced the parser with a stub.',
    'Replaced with stubs',
    'Removed the parser and left a stub.',
    'Removed the parser. Stub follows.',
    'Removed the parser, stub remains',
    'Removed code leaving stubs',
    'Fixed the parser: TODO tests',
    'Removed nothing\nTODO',
    'Export is not implemented.',
    'Export is not yet implemented.',
    'Export is not\nimplemented.',
    'Coming soon: export',
    '"stub"',
    'stub/placeholder',
    'There is no test but a stub',
    'No tests, only stubs',
    'Removed the last TODO, but the export is a stub.',
    'No error occurred; the export is a stub',
    'src/todo.ts',
  ]
  for (const text of open) it(`is open in ${JSON.stringify(text)}`, () => assert.ok(openMarkers(text, []).length > 0))

  const resolved = [
    'Removed the last TODO.',
    'removed all `TODO` comments',
    'There is no placeholder left',
    'Replaced all stubs.',
    'Replaced the old login stub by a form',
    'It works without stubs.',
    'The handler is no longer a stub.',
    'No TODOs, stubs or placeholders remain.',
    'No TODO/placeholder is left',
    'Deleted every remaining placeholder',
    'It is not a stub',
    'A stub-free handler',
    'Resolved the "not implemented" error',
    'Cleaned up the TODOs',
    'A stubborn error in the stubbing of todorov_todo and my_stub',
  ]
  for (const text of resolved)
    it(`is resolved in ${JSON.stringify(text)}`, () => assert.deepEqual(openMarkers(text, []), []))

  it('is not the name of a file of the task', () => {
    const text = 'Wrote `src/todo.ts`, ./src/todo.ts and todo.ts.'
    assert.deepEqual(openMarkers(text, ['src/todo.ts']), [])
    assert.equal(openMarkers('Wrote a stub', ['stub']).length, 1)
  })

  it('is reported with the text around it', () => {
    assert.deepEqual(openMarkers('First line.\nThe export is a stub for now.', []), [
      {marker: 'stub', clause: 'The export is a stub for now.'},
    ])
  })
})
