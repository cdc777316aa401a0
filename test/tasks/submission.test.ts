import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {redoOperation, undoOperation} from '../../src/orchestrator/index.js'
import {requireRow, requireTask, submitTask, taskEnvelope} from '../../src/tasks/index.js'
import {maxLengths} from '../../src/tasks/submission/submission.js'
import {openTestOrchestrator, refused} from '../orchestrator/support/open-test-orchestrator.js'
import {submit} from '../orchestrator/support/tasks.js'
import {projectFile} from '../support/project.js'

describe('the limits of a submission', async () => {
  const schema = JSON.parse(
    await readFile(projectFile('contracts/orchestration/submit-task.v1.schema.json'), 'utf8'),
  ) as {properties: Record<string, {maxLength?: number; properties?: Record<string, {maxLength?: number}>}>}
  const properties = {...schema.properties.enqueue_hints?.properties, ...schema.properties}

  it('match the contract', () => {
    const limits = Object.entries(properties).flatMap(([name, {maxLength}]) =>
      maxLength === undefined || name === 'description' ? [] : [[name, maxLength]],
    )
    assert.deepEqual(Object.fromEntries(limits), maxLengths)
  })

  for (const [name, limit] of Object.entries(maxLengths))
    it(`reject ${name} with one character too many`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const inHints = !(name in schema.properties)
      const of = (length: number) => {
        const member = {[name]: name.endsWith('_json') ? '{}'.padEnd(length) : 'x'.repeat(length)}
        return inHints ? {enqueue_hints: member} : member
      }
      submit(orchestrator, of(limit))
      const {message} = refused('task_invalid', () => submit(orchestrator, of(limit + 1)))
      assert.match(message, new RegExp(`its ${name} has ${limit + 1} characters`))
    })
})

const commands = {
  toml: `[orchestrator.exec]
enabled = true
[orchestrator.exec.templates]
test = ["npm", "test"]
lint = ["npx", "lint", "{root}", "{task_id}"]
one = ["node", "--test", "{file}"]
`,
}
const spec = (members: object) => ({harness_spec_json: JSON.stringify(members)})

describe('the harness of a submission', () => {
  for (const [what, submission, harness] of [
    ['is absent by default', {}, undefined],
    ['is absent if it requires nothing', {accept: [], ...spec({required_checks: []})}, undefined],
    [
      'has trimmed acceptance lines of both sources, each once',
      {accept: [' Empty input returns [] ', 'Fast'], ...spec({accept: ['Fast', 'Small']})},
      {required_checks: [], required_artifacts: [], accept: ['Empty input returns []', 'Fast', 'Small']},
    ],
    [
      'has checks in one form, and normalised artifacts',
      spec({
        required_checks: ['test', {check: 'lint', covers: ['src/**']}],
        required_artifacts: ['./a/../b.md', 'b.md'],
      }),
      {
        required_checks: [{check: 'test'}, {check: 'lint', covers: ['src/**']}],
        required_artifacts: ['b.md'],
        accept: [],
      },
    ],
    [
      'can be a hint',
      {enqueue_hints: spec({accept: ['Fast']})},
      {required_checks: [], required_artifacts: [], accept: ['Fast']},
    ],
    [
      'can be the same in both places',
      {...spec({accept: ['Fast']}), enqueue_hints: {harness_spec_json: '{ "accept": ["Fast"] }'}},
      {required_checks: [], required_artifacts: [], accept: ['Fast']},
    ],
  ] as const)
    it(what, async (t) => {
      const orchestrator = await openTestOrchestrator(t, commands)
      const task = requireTask(orchestrator, submit(orchestrator, structuredClone(submission) as object))
      assert.deepEqual(task.harness, harness)
    })

  for (const [what, submission, fault] of [
    ['text that is not JSON', {harness_spec_json: '{'}, /its harness_spec_json is not valid JSON/],
    ['a list', {harness_spec_json: '[]'}, /its harness_spec_json is not a JSON object/],
    ['an unknown member', spec({checks: []}), /unknown member "checks"/],
    ['an unknown check', spec({required_checks: ['tset']}), /its check tset is not .*; expected one of: test, lint\./],
    [
      'a check with a placeholder',
      spec({required_checks: ['one']}),
      /its check one is a command template with \{file\}/,
    ],
    ['an inherited name', spec({required_checks: ['constructor']}), /its check constructor is not/],
    ['a blank line', {accept: [' ']}, /an acceptance line is blank/],
    ['a long line', {accept: ['x'.repeat(2001)]}, /an acceptance line has 2001 characters/],
    ['too many lines', {accept: Array.from({length: 101}, (_, i) => `${i}`)}, /it has 101 acceptance lines/],
    ['two specifications', {...spec({}), enqueue_hints: spec({accept: ['x']})}, /harness_spec_json differ/],
  ] as const)
    it(`is rejected with ${what}`, async (t) => {
      const orchestrator = await openTestOrchestrator(t, commands)
      const call = () => submit(orchestrator, structuredClone(submission) as object)
      assert.match(refused('task_invalid', call).message, fault)
    })

  it('cannot have checks if commands are disabled', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    refused('exec_disabled', () => submit(orchestrator, spec({required_checks: ['test']})))
    submit(orchestrator, spec({accept: ['x']}))
  })

  it('cannot have artifacts outside the workspace', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    refused('task_path_escapes', () => submit(orchestrator, spec({required_artifacts: ['../x']})))
  })

  it('is a part of the request: another one is not a duplicate', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const ask = (more: object) => submitTask(orchestrator, {description: 'x', idempotency_key: 'k', ...more})
    ask({accept: ['a'], context_envelope_json: '{}'})
    assert.equal(ask({...spec({accept: ['a']}), context_envelope_json: '{}'}).duplicate, true)
    for (const other of [{}, {accept: ['a']}, {accept: ['b'], context_envelope_json: '{}'}])
      refused('idempotency_mismatch', () => ask(other))
  })

  it('is kept when an undone submission is redone', async (t) => {
    const orchestrator = await openTestOrchestrator(t, commands)
    const evidence = {socrates_context: {evidence_count: 1}}
    const asked = {...spec({required_checks: ['test'], accept: ['a']}), context_envelope_json: '{}'}
    submit(orchestrator, {...asked, enqueue_hints: evidence})
    const {op_id} = undoOperation(orchestrator, 'T-0001')
    redoOperation(orchestrator, op_id)
    const [first, second] = [1, 2].map((id) => requireRow(orchestrator, id))
    // A redone task stays with its former agent.
    assert.deepEqual(JSON.parse(second?.request ?? ''), {...JSON.parse(first?.request ?? ''), is_targeted: true})
    assert.equal(taskEnvelope(orchestrator, 2), '{}')
  })
})
