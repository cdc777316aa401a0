import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {newPlan} from '../../src/plans/index.js'
import {decideTests, pruneTasks, submitBatch, taskInDetail, testDecisionOf} from '../../src/tasks/index.js'
import {openTestOrchestrator, refused} from '../orchestrator/support/open-test-orchestrator.js'
import {complete, submit, submitWriter} from '../orchestrator/support/tasks.js'

const policy = {fileCountThreshold: 4, complexityThreshold: 7}
const files = (access: 'read' | 'write', ...paths: string[]) => paths.map((path) => ({path, access}))
const write = (...paths: string[]) => files('write', ...paths)

describe('the test decision', () => {
  const cases: [string, Partial<Parameters<typeof decideTests>[0]>, ReturnType<typeof decideTests>['decision']][] = [
    ['of a test', {category: 'testing', files: write('a.ts', 'b.ts', 'c.ts', 'd.ts')}, 'skip'],
    ['of research', {category: 'research', complexity: 9}, 'skip'],
    ['of work that only reads', {files: files('read', 'a.ts')}, 'skip'],
    ['of documentation', {files: write('README.md', 'docs/a.txt', 'docs/b.rst', 'docs/c.mdx')}, 'skip'],
    ['of documentation and code', {files: write('README.md', 'a.ts')}, 'recommended'],
    ['of three files', {files: write('a', 'b', 'c'), complexity: 6}, 'recommended'],
    ['of four files', {files: write('a', 'b', 'c', 'd'), complexity: 1}, 'required'],
    ['of a complex change', {files: write('a'), complexity: 7}, 'required'],
    ['of complex code without known files', {category: 'codegen', complexity: 7}, 'required'],
    ['of simple code without known files', {category: 'codegen', complexity: 6}, 'deferred'],
    ['of unknown work', {complexity: 10}, 'deferred'],
  ]
  for (const [title, subject, decision] of cases)
    it(`${title} is ${decision}`, () => {
      const verdict = decideTests({files: [], category: 'general', complexity: 5, ...subject}, policy)
      assert.equal(verdict.decision, decision, verdict.rationale)
    })

  it('is stored with a task, by the settings of the workspace', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {
      toml: '[orchestrator.test_decision_policy]\nfile_count_threshold = 2\n',
    })
    const id = submitWriter(orchestrator, ['a.ts', 'b.ts'])
    assert.deepEqual(testDecisionOf(orchestrator, id), {
      task_id: id,
      decision: 'required',
      rationale: 'it writes 2 files; the threshold is 2',
      recorded_at_ms: orchestrator.clock.ms,
    })
    const task = taskInDetail(orchestrator, id)
    assert.deepEqual([task.test_decision, task.test_rationale], ['required', 'it writes 2 files; the threshold is 2'])
    refused('task_not_found', () => testDecisionOf(orchestrator, 99))
  })

  it('of a submission takes precedence', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const [one, two] = submitBatch(orchestrator, [{description: 'a', test_decision: 'required'}, {description: 'b'}])
    assert.deepEqual(
      [one, two].map((each) => testDecisionOf(orchestrator, each?.task_id ?? 0).decision),
      ['required', 'deferred'],
    )
  })

  it('is deleted with its task', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    complete(orchestrator, submit(orchestrator))
    assert.equal(pruneTasks(orchestrator, {olderThanMs: 0}).removed, 1)
    assert.equal(orchestrator.store.get('SELECT 1 FROM plan_test_decisions'), undefined)
  })

  it('of a plan step follows from its files and complexity', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const goal = 'Describe it in docs/a.md\nChange src/a.ts, src/b.ts, src/c.ts and src/d.ts\nRun the tests'
    const {versions} = newPlan(orchestrator, {goal, steps: undefined})
    assert.ok(versions[0].steps.every(({test_rationale}) => test_rationale.length > 0))
    assert.equal(versions[0].steps.at(-1)?.test_decision, 'skip')
  })
})
