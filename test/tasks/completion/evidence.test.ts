import assert from 'node:assert/strict'
import {execFileSync} from 'node:child_process'
import {mkdir, open, rm, symlink, truncate, unlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {readEvents, renewClaim, requireTask, submitTask, taskEvidence} from '../../../src/tasks/index.js'
import {skipWithoutProgram} from '../../support/programs.js'
import {temporaryFolder} from '../../support/temporary.js'
import {type Claimed, enforced, type GatedWorkspace, gatedWorkspace} from './gated-workspace.js'

const evidenceOf = ({orchestrator}: GatedWorkspace, {id}: Claimed) => taskEvidence(orchestrator, id)

const changesOf = async (workspace: GatedWorkspace, task: Claimed) =>
  Object.fromEntries((await evidenceOf(workspace, task)).files.map(({path, change}) => [path, change]))

const rulesOf = async (workspace: GatedWorkspace, task: Claimed) => {
  const {observations, scan} = await evidenceOf(workspace, task)
  return [...observations, ...scan.findings].map(({rule, severity, path}) => [rule, severity, path])
}

describe('the files of a task', () => {
  it('are compared with their state at the claim', async (t) => {
    const workspace = await gatedWorkspace(t)
    for (const path of ['same.txt', 'touched.txt', 'edited.txt', 'deleted.txt']) await workspace.write(path, 'one\n')
    const task = await workspace.claim(['same.txt', 'touched.txt', 'edited.txt', 'deleted.txt', 'new.txt', 'none.txt'])
    await workspace.write('touched.txt', 'one\n')
    await workspace.write('edited.txt', 'two\n')
    await unlink(join(workspace.root, 'deleted.txt'))
    await workspace.write('new.txt', '')
    assert.deepEqual(await changesOf(workspace, task), {
      'same.txt': 'unchanged',
      'touched.txt': 'unchanged',
      'edited.txt': 'modified',
      'deleted.txt': 'deleted',
      'new.txt': 'created',
      'none.txt': 'absent',
    })
  })

  it('are compared with their state at the first claim if a gate returned the task', async (t) => {
    const workspace = await gatedWorkspace(t)
    const first = await workspace.claim(['a.js'])
    await workspace.write('a.js', '// TODO: write it\n')
    assert.equal((await workspace.complete(first)).outcome, 'requeued')
    const second = await workspace.claimAgain(first.id)
    assert.deepEqual(await changesOf(workspace, second), {'a.js': 'created'})
    assert.equal((await workspace.complete(second)).outcome, 'requeued')
  })

  it('have findings from before the claim as info', async (t) => {
    const workspace = await gatedWorkspace(t)
    await workspace.write('a.js', '// TODO: old\nexport const a = 1\n')
    const task = await workspace.claim(['a.js'])
    await workspace.write('a.js', '// the constants\n// TODO: old\nexport const a = 1\n// TODO: new\n')
    const findings = (await evidenceOf(workspace, task)).scan.findings.map(({line, severity}) => [line, severity])
    assert.deepEqual(findings, [
      [2, 'info'],
      [4, 'error'],
    ])
  })

  it('that the task did not write have no findings that count against it', async (t) => {
    const workspace = await gatedWorkspace(t)
    await workspace.write('old.js', '// TODO: old\n')
    await new Promise((resolve) => setTimeout(resolve, 30))
    const task = await workspace.claim()
    const completion = await workspace.complete(task, {
      text: 'The module needs no change.',
      artifact_paths: ['old.js'],
      declared_non_placeholder: true,
    })
    assert.equal(completion.outcome, 'completed')
    assert.deepEqual(await rulesOf(workspace, task), [['stub/todo-comment', 'info', 'old.js']])
  })

  it('are not accepted as artifacts if they are absent or unchanged, touched or not', async (t) => {
    const workspace = await gatedWorkspace(t, {env: enforced})
    await workspace.write('a.js', 'export const a = 1\n')
    const task = await workspace.claim(['a.js', 'b.js'])
    await workspace.write('a.js', 'export const a = 1\n')
    const result = {text: 'The constants have their new values.', artifact_paths: ['a.js', 'b.js']}
    const completion = await workspace.complete(task, result)
    const report = 'report' in completion ? completion.report : ''
    assert.match(report, /"b\.js" is absent/)
    assert.match(report, /did not change the artifact "a\.js"/)
    const again = await workspace.claimAgain(task.id)
    await workspace.write('b.js', 'export const b = 1\n')
    const reason = {no_change_needed: 'The value of a is right.'}
    assert.equal((await workspace.complete(again, {...result, ...reason})).outcome, 'completed')
  })

  it('that only the agent lists are compared with the last commit', {skip: skipWithoutProgram('git')}, async (t) => {
    const workspace = await gatedWorkspace(t)
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', workspace.root, '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args])
    await workspace.write('a.js', '// TODO: old\nexport const a = 1\n')
    await workspace.write('b.js', 'export const b = 1\n')
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'Start')
    await new Promise((resolve) => setTimeout(resolve, 30))
    const task = await workspace.claim()
    await workspace.write('a.js', '// TODO: old\nexport const a = 2\n')
    const completion = await workspace.complete(task, {
      text: 'The constant has its new value.',
      artifact_paths: ['a.js', 'b.js'],
      declared_non_placeholder: true,
    })
    assert.equal(completion.outcome, 'completed', 'report' in completion ? completion.report : '')
    assert.deepEqual(await changesOf(workspace, task), {'a.js': 'modified', 'b.js': 'unchanged'})
  })

  it('do not include files of other tasks in progress', async (t) => {
    const workspace = await gatedWorkspace(t)
    await workspace.claim(['theirs.js'])
    const task = await workspace.claim()
    await workspace.write('theirs.js', 'export const a = 1\n')
    await workspace.write('nobodys.js', 'export const a = 1\n')
    const result = {
      text: 'The constant has its new value.',
      artifact_paths: ['theirs.js'],
      declared_non_placeholder: true,
    }
    assert.equal((await workspace.complete(task, result)).outcome, 'completed')
    assert.deepEqual(await rulesOf(workspace, task), [
      ['evidence/unattributed', 'info', 'nobodys.js'],
      ['evidence/other-task', 'warning', 'theirs.js'],
    ])
    assert.deepEqual(await changesOf(workspace, task), {'theirs.js': 'unchanged'})
  })

  it('are not read outside the workspace', async (t) => {
    const workspace = await gatedWorkspace(t)
    const outside = await temporaryFolder(t)
    await writeFile(join(outside, 'secret.js'), '// TODO: never read\n')
    const task = await workspace.claim(['link.js', 'folder/secret.js'])
    await symlink(join(outside, 'secret.js'), join(workspace.root, 'link.js'))
    await symlink(outside, join(workspace.root, 'folder'))
    assert.deepEqual(await changesOf(workspace, task), {'link.js': 'unchanged', 'folder/secret.js': 'unchanged'})
    assert.deepEqual(await rulesOf(workspace, task), [
      ['evidence/unattributed', 'info', 'folder'],
      ['evidence/outside-workspace', 'error', 'link.js'],
      ['evidence/outside-workspace', 'error', 'folder/secret.js'],
    ])
    const completion = await workspace.complete(task)
    assert.equal(completion.outcome, 'requeued')
  })

  it('that an agent lists outside the workspace are no evidence', async (t) => {
    const workspace = await gatedWorkspace(t)
    const task = await workspace.claim()
    const completion = await workspace.complete(task, {
      text: 'The settings of the system were changed.',
      artifact_paths: ['../../etc/hosts'],
      declared_non_placeholder: true,
    })
    assert.match('report' in completion ? completion.report : '', /\.\.\/etc\/hosts" is absent/)
    assert.deepEqual(
      (await evidenceOf(workspace, task)).observations.map(({rule}) => rule),
      ['evidence/outside-workspace'],
    )
  })

  it('are hashed but not scanned if they are binary or large', async (t) => {
    const workspace = await gatedWorkspace(t)
    const task = await workspace.claim(['image.js', 'large.js'])
    await workspace.write('image.js', Buffer.from([0, 1, 2, ...Buffer.from('// TODO: not text')]))
    const large = await open(join(workspace.root, 'large.js'), 'w')
    await large.write('// TODO: beyond the limit\n')
    await large.close()
    await truncate(join(workspace.root, 'large.js'), 100 * 2 ** 20)
    const completion = await workspace.complete(task)
    assert.equal(completion.outcome, 'completed')
    const {files, scan} = await evidenceOf(workspace, task)
    assert.deepEqual(scan.findings, [])
    assert.ok(files.every(({change, digest}) => change === 'created' && digest?.length === 64))
  })

  it('may be deleted while they are inspected', async (t) => {
    const workspace = await gatedWorkspace(t)
    const paths = Array.from({length: 200}, (_, i) => `part-${i}.js`)
    const task = await workspace.claim(paths)
    for (const path of paths) await workspace.write(path, 'export const a = 1\n')
    const completing = workspace.complete(task)
    for (const path of paths) await rm(join(workspace.root, path))
    assert.equal((await completing).outcome, 'completed')
  })

  it('may be folders or pipes, which are no evidence', async (t) => {
    const workspace = await gatedWorkspace(t)
    const task = await workspace.claim(['folder', 'pipe'])
    await mkdir(join(workspace.root, 'folder'))
    execFileSync('mkfifo', [join(workspace.root, 'pipe')])
    assert.deepEqual(await changesOf(workspace, task), {folder: 'unchanged', pipe: 'unchanged'})
    assert.equal((await workspace.complete(task)).outcome, 'completed')
  })
})

describe('the checks of a completion', () => {
  const behavioral = (...names: string[]) =>
    `behavioral_gate_on_complete = true\nbehavioral_gate_command = ${JSON.stringify(names)}\n`

  it('that hang are terminated after exec.timeout_ms, and the claim lasts as long', async (t) => {
    const workspace = await gatedWorkspace(t, {toml: behavioral('hang'), timeoutMs: 300})
    const task = await workspace.claim()
    renewClaim(workspace.orchestrator, task.id, {generation: task.generation, ttlMs: 1000})
    const completion = await workspace.complete(task)
    assert.ok(completion.outcome === 'requeued')
    assert.match(completion.report, /hang timed out after 300 ms/)
  })

  it('end with the signal, and the task stays in progress', async (t) => {
    const workspace = await gatedWorkspace(t, {toml: behavioral('hang')})
    const task = await workspace.claim()
    const {completeTask} = await import('../../../src/tasks/index.js')
    const controller = new AbortController()
    const completing = completeTask(workspace.orchestrator, task.id, undefined, task, {
      signal: controller.signal,
      onCheck: () => controller.abort(new Error('stop')),
    })
    await assert.rejects(completing, /stop/)
    assert.equal(requireTask(workspace.orchestrator, task.id).status, 'InProgress')
    assert.deepEqual(readEvents(workspace.orchestrator, {types: ['task_gated', 'task_completed']}), [])
  })

  it('of another claim do not complete the task', async (t) => {
    const workspace = await gatedWorkspace(t, {toml: behavioral('test')})
    const task = await workspace.claim()
    const {completeTask, failTask} = await import('../../../src/tasks/index.js')
    const completing = completeTask(workspace.orchestrator, task.id, undefined, task, {
      onCheck: () => failTask(workspace.orchestrator, task.id, 'given up', {...task, isFinal: true}),
    })
    await assert.rejects(completing, {code: 'claim_lost'})
    assert.equal(requireTask(workspace.orchestrator, task.id).status, 'Failed')
  })
})

describe('the command of a task', () => {
  it('is a check that has passed or failed once it has ended', async (t) => {
    const {orchestrator, runCheck} = await gatedWorkspace(t)
    const checksOf = async (id: number) =>
      (await taskEvidence(orchestrator, id)).checks.map(({check, passed, reason}) => ({check, passed, reason}))
    await runCheck('test')
    assert.deepEqual(await checksOf(1), [{check: 'test', passed: true, reason: undefined}])
    await runCheck('fail')
    const reason = requireTask(orchestrator, 2).status_reason
    assert.match(reason ?? '', /^fail .*3/)
    assert.deepEqual(await checksOf(2), [{check: 'fail', passed: false, reason}])
    const {task_id: id} = submitTask(orchestrator, {description: 'Test', processor: 'exec', exec: {template: 'test'}})
    assert.deepEqual(await checksOf(id), [])
  })
})
