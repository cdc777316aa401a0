import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import type {OrchVerifyV1} from '../../src/contracts/index.js'
import type {EventRecord, Task} from '../../src/tasks/index.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {assertFits, type OrchWorkspace, orchWorkspace} from '../support/orch-workspace.js'

const settings = `[orchestrator]
default_processor = "external"
harness_completion_guard = "enforce"
attention_enabled = true
behavioral_gate_on_complete = true
behavioral_gate_command = ["test"]

[orchestrator.exec]
enabled = true

[orchestrator.exec.templates]
test = ["sh", "-c", "test ! -e broken && echo 12 tests passed"]
`

const summary = 'The sum is computed from all arguments.'
const finished = 'export const sum = (...numbers) => numbers.reduce((total, each) => total + each, 0)\n'

async function evidenceWorkspace(t: TestContext) {
  const workspace = await orchWorkspace(t, settings)
  return {...workspace, write: (path: string, text: string) => writeFile(join(workspace.cwd, path), text)}
}

/** Submits a task and claims it. Returns its id and the generation of the claim. */
async function claimed({submit, text}: OrchWorkspace, ...args: string[]): Promise<[id: string, generation: string]> {
  await submit('Add the numbers', ...args)
  const [id = '', generation = ''] = (await text(['orch', 'claim', '--as', 'bob', '--ttl', '600'])).trim().split(' ')
  return [id, generation]
}

describe('svc orch complete with a refused result', {concurrency: 3}, () => {
  it('prints the findings, exits with status 1 and queues the task again', async (t) => {
    const workspace = await evidenceWorkspace(t)
    const {run, task, write} = workspace
    const [id, generation] = await claimed(workspace, '-f', 'sum.js')
    await write('sum.js', '// TODO: add the numbers\n')
    const {exitCode, stdout, stderr} = await run(['orch', 'complete', id, '--claim', generation])
    assert.equal(exitCode, 1)
    assert.match(stdout, /^T-0001 is Queued .*gate:toestub\nGates: returned by toestub, 1 of 3\n/)
    assert.match(stdout, /\n {2}toestub: fail\n {4}error: sum\.js:1: .*\(stub\/todo-comment\)\n/)
    assert.match(stderr, /^error: T-0001 is queued again: the gate toestub .*\(1 of 3\)\. \(completion_refused\)\n/)
    const {status, description, toestub_iterations: iterations} = await task(id)
    assert.deepEqual([status, iterations], ['Queued', 1])
    assert.match(description, /\[AUTO-DEBUG ITERATION 1\]/)
  })

  it('prints one error with --json', async (t) => {
    const workspace = await evidenceWorkspace(t)
    const [id, generation] = await claimed(workspace)
    await workspace.write('broken', '')
    const {exitCode, stdout} = await workspace.run(['orch', 'complete', id, '--claim', generation, '--json'])
    const body = JSON.parse(stdout) as {error: {code: string; message: string; exit: number}}
    await assertFits('cli/error.v1', body)
    assert.deepEqual([exitCode, body.error.code, body.error.exit], [1, 'completion_refused', 1])
    assert.match(body.error.message, /^T-0001 is queued again: the gate behavioral /)
  })

  it('says that the task has failed after the last iteration', async (t) => {
    const workspace = await orchWorkspace(t, settings.replace('\n', '\nmax_toestub_debug_iterations = 0\n'))
    const [id, generation] = await claimed(workspace, '-f', 'sum.js')
    await writeFile(join(workspace.cwd, 'sum.js'), '// TODO: add the numbers\n')
    const {exitCode, stderr} = await workspace.run(['orch', 'complete', id, '--claim', generation])
    assert.equal(exitCode, 1)
    assert.match(stderr, /^error: T-0001 failed: the gate toestub did not accept the result/)
    const {status, status_reason: reason} = await workspace.task(id)
    assert.deepEqual([status, reason], ['Failed', 'gate_exhausted:toestub'])
  })
})

describe('svc orch complete --met and --artifact', {concurrency: 3}, () => {
  it('bind an acceptance line to a check, and name a file', async (t) => {
    const workspace = await evidenceWorkspace(t)
    const {run, write, json, task} = workspace
    const [id, generation] = await claimed(workspace, '--accept', 'The tests pass')
    await write('sum.js', finished)
    const args = ['orch', 'complete', id, '--claim', generation, '--summary', summary, '--non-placeholder']
    args.push('--met', '1=check:test', '--artifact', 'sum.js')
    const {exitCode, stdout, stderr} = await run(args)
    assert.equal(exitCode, 0, stdout + stderr)
    const {receipt = '', evaluation} = await task(id)
    assert.match(receipt, /^sha256:[0-9a-f]{64}$/)
    assert.deepEqual(
      evaluation?.owed.map(({kind, item, state, grade, source}) => [kind, item, state, grade, source]),
      [['accept', 'The tests pass', 'met', 'verified', 'test']],
    )
    assert.deepEqual(
      evaluation?.files.map(({path, change, listed}) => [path, change, listed]),
      [['sum.js', 'created', 'agent']],
    )
    const verified = await json<OrchVerifyV1>('cli/orch-verify.v1', ['orch', 'verify', id])
    assert.deepEqual([verified.valid, verified.receipt, verified.recomputed], [true, receipt, receipt])
  })

  it('is refused for a line that nothing proves', async (t) => {
    const workspace = await evidenceWorkspace(t)
    const [id, generation] = await claimed(workspace, '--accept', 'The tests pass', '--accept', 'It is documented')
    const args = ['orch', 'complete', id, '--claim', generation, '--summary', summary, '--non-placeholder']
    const {exitCode, stdout} = await workspace.run([...args, '--met', '1=check:test', '--met', '2=file:sum.md'])
    assert.equal(exitCode, 1)
    assert.match(stdout, /\n {2}harness: fail\n/)
    assert.match(stdout, /"It is documented"/)
    assert.doesNotMatch(stdout, /"The tests pass"/)
  })
})

describe('svc orch task --evidence', {concurrency: 3}, () => {
  it('prints what a task in progress has shown so far, without running checks', async (t) => {
    const workspace = await evidenceWorkspace(t)
    const {text, write, json} = workspace
    const [id] = await claimed(workspace, '-f', 'sum.js', '--accept', 'It is written [[file:sum.js]]')
    assert.match(
      await text(['orch', 'task', id, '--evidence']),
      /\naccept +It is written \[\[file:sum\.js\]\] +void +-/,
    )
    await write('sum.js', finished)
    const output = await text(['orch', 'task', id, '--evidence'])
    assert.match(output, /^KIND +ITEM +STATE +GRADE +AGE\n/)
    assert.match(output, /\naccept +It is written \[\[file:sum\.js\]\] +met +observed +\d+s\n/)
    assert.match(output, /\nfile +sum\.js +created +observed +\d+s\n/)
    assert.doesNotMatch(output, /\nresult /)
    const task = await json<Task>('cli/orch-task.v1', ['orch', 'task', id])
    assert.equal(task.evaluation, undefined)
    const evaluation = JSON.parse(await text(['orch', 'task', id, '--evidence', '--json'])) as Task['evaluation']
    assert.equal(evaluation?.outcome, 'pending')
    await assertFits('cli/orch-task.v1', {...task, evaluation})
  })

  it('prints the latest evaluation of a task that a gate returned', async (t) => {
    const workspace = await evidenceWorkspace(t)
    const {run, text, write, task} = workspace
    const [id, generation] = await claimed(workspace, '-f', 'sum.js')
    await write('broken', '')
    await write('sum.js', finished)
    await run(['orch', 'complete', id, '--claim', generation])
    const output = await text(['orch', 'task', id, '--evidence'])
    assert.match(output, /\nresult +test +failed +verified +\d+s\n/)
    assert.match(output, /\nGates: returned by behavioral, 1 of 3\n/)
    const evaluation = JSON.parse(await text(['orch', 'task', id, '--evidence', '--json'])) as Task['evaluation']
    assert.deepEqual(evaluation, (await task(id)).evaluation)
    assert.deepEqual([evaluation?.outcome, evaluation?.gate], ['requeued', 'behavioral'])
  })
})

describe('svc orch verify', {concurrency: 3}, () => {
  async function completed(t: TestContext) {
    const workspace = await evidenceWorkspace(t)
    const [id, generation] = await claimed(workspace, '-f', 'sum.js')
    await workspace.write('sum.js', finished)
    await workspace.text(['orch', 'complete', id, '--claim', generation, '--summary', summary])
    return {...workspace, id}
  }

  it('exits with status 0 for a valid receipt, even if a file was changed later', async (t) => {
    const {text, id, write} = await completed(t)
    assert.match(
      await text(['orch', 'verify', id]),
      /^T-0001 is Completed; its receipt is valid\n {2}sha256:[0-9a-f]{64}\n {2}sum\.js: same\n$/,
    )
    await write('sum.js', `${finished}// Changed later.\n`)
    assert.match(await text(['orch', 'verify', id]), /receipt is valid\n.*\n {2}sum\.js: changed\n$/)
  })

  it('exits with status 1 if the stored evidence was changed', async (t) => {
    const {run, id, cwd} = await completed(t)
    const {store} = await openTestOrchestrator(t, {root: cwd, clock: 'real'})
    store.run("UPDATE orch_task_evidence SET evaluation = json_set(evaluation, '$.checks[0].passed', json('false'))")
    const {exitCode, stdout, stderr} = await run(['orch', 'verify', id])
    assert.equal(exitCode, 1)
    assert.match(stdout, /^T-0001 is Completed; its receipt is invalid\n/)
    assert.match(stderr, /\(receipt_invalid\)/)
  })

  it('exits with status 1 if there is no receipt', async (t) => {
    const {run, submit} = await evidenceWorkspace(t)
    const id = await submit('Add the numbers')
    const {exitCode, stdout, stderr} = await run(['orch', 'verify', id])
    assert.equal(exitCode, 1)
    assert.match(stdout, /^T-0001 is Queued; its receipt is missing\n/)
    assert.match(stderr, /\(receipt_invalid\)/)
  })
})

describe('svc orch approve --as', {concurrency: 3}, () => {
  it('records the review of a task in progress, which counts if the reviewer is not the worker', async (t) => {
    const workspace = await evidenceWorkspace(t)
    const {text, run, events, cwd} = workspace
    const {store} = await openTestOrchestrator(t, {root: cwd, clock: 'real'})
    const complete = async (generation: string) => {
      const args = ['orch', 'complete', 'T-0001', '--claim', generation, '--summary', summary, '--non-placeholder']
      return (await run([...args, '--check', 'human_review_approved'])).exitCode
    }
    const [id, first] = await claimed(workspace)
    store.run("UPDATE orch_tasks SET approval_tier = 'review'")
    assert.match(await text(['orch', 'approve', id, '--as', 'bob']), /^T-0001 is InProgress /)
    assert.equal(await complete(first), 1)
    const again = (await text(['orch', 'claim', '--as', 'bob', '--ttl', '600'])).trim().split(' ')[1] ?? ''
    await text(['orch', 'approve', id, '--as', 'ann'])
    assert.equal(await complete(again), 0)
    const names = (await events('--type', 'task_approved')).map(({kind}: EventRecord) => 'by' in kind && kind.by)
    assert.deepEqual(names, ['bob', 'ann'])
  })
})
