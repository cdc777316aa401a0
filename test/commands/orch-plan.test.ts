import assert from 'node:assert/strict'
import {mkdir, readFile, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import type {Execution, Plan, PlanStatus, PlanSummary} from '../../src/plans/index.js'
import {type OrchWorkspace, orchWorkspace, templates, until} from '../support/orch-workspace.js'
import {answerLines, scriptedInference} from '../support/scripted-inference.js'
import {writeFiles} from '../support/temporary.js'

type KeptPlan = Plan & {written_to_disk: boolean; replan_version?: number}

const planning = `[orchestrator]
planning_auto_mode_enabled = true
default_processor = "external"
`

const goal = 'Add the parser\nAdd the printer\nRun the test suite'

const make = ({json}: OrchWorkspace, ...args: string[]) =>
  json<KeptPlan>('cli/orch-plan.v1', ['orch', 'plan', 'new', ...args])
const status = ({json}: OrchWorkspace, id: string) =>
  json<PlanStatus>('cli/orch-plan-status.v1', ['orch', 'plan', 'status', id])
const execute = ({json}: OrchWorkspace, id: string) =>
  json<Execution>('cli/orch-plan-execute.v1', ['orch', 'plan', 'execute', id])
const list = ({json}: OrchWorkspace, ...args: string[]) =>
  json<{plans: PlanSummary[]}>('cli/orch-plans.v1', ['orch', 'plan', 'list', ...args])

describe('svc orch plan new', {concurrency: 3}, () => {
  it('stores and prints a plan', async (t) => {
    const workspace = await orchWorkspace(t, planning)
    const {stdout, stderr} = await workspace.run(['orch', 'plan', 'new', 'Add paging to src/inbox.ts; stuff'])
    assert.match(stdout, /^plan +plan-[0-9a-f-]{36}\nversion +1\nquality +1\.00, flagged\n\nAdd paging/)
    assert.match(
      stdout,
      /\n1 +n1 +pending +- +src\/inbox\.ts:write +Add paging to src\/inbox\.ts\n2 +n2 +pending +1 +- +stuff\n/,
    )
    assert.equal(stderr, 'notice: n2 is too short and names no action.\n')
    const {plans} = await list(workspace)
    assert.deepEqual([plans.length, plans[0]?.total, plans[0]?.status], [1, 3, 'pending'])
    assert.equal((await workspace.status()).total_queued, 0)
    assert.match(await workspace.text(['orch', 'plan', 'list']), /^PLAN .*\nplan-\S+ +pending +0\/3 +\d+s +Add paging/)
  })

  it('reads the goal from standard input, and accepts all flags', async (t) => {
    const workspace = await orchWorkspace(t, planning)
    const args = ['--max-tasks', '2', '--session-id', 'talk', '--mode', 'force_plan']
    const created = await workspace.json<KeptPlan>('cli/orch-plan.v1', ['orch', 'plan', 'new', '-', ...args], {
      input: `${goal}\n`,
    })
    assert.deepEqual([created.goal, created.versions[0].steps.length], [goal, 2])
    assert.deepEqual((await list(workspace, '--session-id', 'talk')).plans.length, 1)
    assert.deepEqual((await list(workspace, '--session-id', 'other')).plans, [])
    assert.equal((await make(workspace, goal, '--mode', 'direct')).versions[0].steps.length, 1)
  })

  it('resolves files relative to the current folder', async (t) => {
    const workspace = await orchWorkspace(t, planning)
    const cwd = join(workspace.cwd, 'src')
    await mkdir(cwd)
    const args = ['orch', 'plan', 'new', 'Fix the inbox', '--scope-file', 'inbox.ts', '--scope-file', '../README.md']
    const created = await workspace.json<KeptPlan>('cli/orch-plan.v1', args, {cwd})
    assert.deepEqual(created.versions[0].steps[0]?.files, [{path: 'src/inbox.ts', access: 'write'}])
    await workspace.fails([...args, '--scope-file', '../../x'], 2, 'task_path_escapes', {cwd})
  })

  it('writes PLAN.md, but not through a link out of the workspace', async (t) => {
    const workspace = await orchWorkspace(t, planning)
    const created = await make(workspace, goal, '--write')
    assert.equal(created.written_to_disk, true)
    assert.match(await readFile(join(workspace.cwd, 'PLAN.md'), 'utf8'), /^# Plan\n.*- \[ \] 3\. Run the test suite/s)
    const other = await orchWorkspace(t, planning)
    await symlink('/tmp/elsewhere.md', join(other.cwd, 'PLAN.md'))
    await other.fails(['orch', 'plan', 'new', goal, '--write'], 4, 'plan_file_escapes')
    assert.deepEqual((await list(other)).plans, [])
  })

  it('reports an error if no plan can be created', async (t) => {
    const {fails, cwd} = await orchWorkspace(t, planning)
    await fails(['orch', 'plan', 'new'], 2, 'usage')
    await fails(['orch', 'plan', 'new', ' '], 2, 'plan_goal_invalid')
    await fails(['orch', 'plan', 'new', goal, '--mode', 'workflow_only'], 2, 'plan_mode_unsupported')
    await fails(['orch', 'plan', 'new', goal, '--max-tasks', '0'], 2, 'usage')
    await writeFiles(cwd, {'Svc.toml': 'orchestrator.plan_adequacy_enforce = true\n'})
    await fails(['orch', 'plan', 'new', 'stuff'], 4, 'plan_rejected')
    await writeFiles(cwd, {'Svc.toml': 'orchestrator.planning_enabled = false\n'})
    await fails(['orch', 'plan', 'new', goal], 4, 'planning_disabled')
  })

  it('uses the model of the environment if the settings enable it', async (t) => {
    const steps = JSON.stringify([{id: 1, description: 'Draw the plan of a house', files: [], depends_on: []}])
    const {baseUrl} = await scriptedInference(t, (response) => response.end(answerLines(steps)))
    const {json} = await orchWorkspace(t, 'orchestrator.planning_llm_synthesis_enabled = true\n')
    const args = ['orch', 'plan', 'new', 'Build a house']
    const created = await json<KeptPlan>('cli/orch-plan.v1', args, {env: {SVC_INFERENCE_URL: baseUrl}})
    assert.deepEqual(
      created.versions[0].steps.map(({description}) => description),
      ['Draw the plan of a house'],
    )
  })
})

describe('svc orch plan execute', {concurrency: 3}, () => {
  it('runs all steps of a plan with a daemon, and shows them', async (t) => {
    const toml = `${templates}\n[orchestrator]\nplanning_auto_mode_enabled = true\ndefault_processor = "external"\n`
    const workspace = await orchWorkspace(t, toml)
    const {session_id: id} = await make(workspace, goal)
    const daemon = workspace.startInTurn(['daemon', 'run', '--json'])
    await daemon.line(1)
    assert.equal(await workspace.text(['orch', 'plan', 'execute', id]), 'T-0001\n')
    for (const task of ['T-0001', 'T-0002', 'T-0003']) {
      await until(async () => (await workspace.run(['orch', 'claim'])).stdout === `${task} 1\n`, task)
      const {steps} = await status(workspace, id)
      assert.ok(steps.some((step) => step.status === 'in_progress'))
      await workspace.text(['orch', 'complete', task, '--claim', '1'])
    }
    const output = await workspace.text(['orch', 'plan', 'status', id])
    assert.match(output, /\nstatus +completed, sequential_dag\n/)
    assert.match(output, /\n3 +n3 +completed +T-0003 +1 +Run the test suite\n/)
    assert.equal(await daemon.end('SIGTERM'), 0)
    const statusLines = daemon.lines.filter((line) => line.includes('"plan_node_status"'))
    assert.equal(statusLines.length, 9)
    assert.deepEqual(await execute(workspace, id), {task_ids: [], ok: true})
    await workspace.events('--type', 'plan_node_status')
    assert.match(
      await workspace.text(['orch', 'events', '--type', 'plan_node_status']),
      / n1 of plan-\S+ is queued \(T-0001\)\n/,
    )
  })

  it('waits for approval of each step', async (t) => {
    const workspace = await orchWorkspace(t, 'orchestrator.default_processor = "external"\n')
    const {session_id: id} = await make(workspace, goal)
    assert.deepEqual(await execute(workspace, id), {task_ids: [1], ok: true})
    assert.equal((await workspace.task(1)).status, 'BlockedOnApproval')
    await workspace.text(['orch', 'approve', '1'])
    await workspace.text(['orch', 'claim'])
    await workspace.text(['orch', 'fail', '1', '--claim', '1', '-r', 'no ink'])
    const {status: how, steps} = await status(workspace, id)
    assert.deepEqual([how, steps[0]?.status, steps[0]?.last_error], ['failed', 'failed', 'no ink'])
    assert.match(
      await workspace.text(['orch', 'plan', 'status', id]),
      /\n1 +n1 +failed +T-0001 +1 +Add the parser +no ink\n/,
    )
    const sentence = await workspace.fails(['orch', 'plan', 'execute', id], 4, 'plan_stuck')
    assert.match(sentence, /n1 failed or was cancelled\.$/)
    await workspace.text(['orch', 'plan', 'replan', id, 'Buy ink'])
    await workspace.fails(['orch', 'retry', '1'], 4, 'plan_step_replaced')
  })

  it('reports refused steps', async (t) => {
    const workspace = await orchWorkspace(
      t,
      `${planning}planning_llm_synthesis_enabled = true\nmax_queue_len = 1\nqueue_overflow_strategy = "block"\n`,
    )
    const steps = ['Add the first part', 'Add the second part'].map((description) => ({description, depends_on: []}))
    const {baseUrl} = await scriptedInference(t, (response) => response.end(answerLines(JSON.stringify(steps))))
    const args = ['orch', 'plan', 'new', 'Add two parts']
    const {session_id: id} = await workspace.json<KeptPlan>('cli/orch-plan.v1', args, {
      env: {SVC_INFERENCE_URL: baseUrl},
    })
    const {stdout, stderr} = await workspace.run(['orch', 'plan', 'execute', id])
    assert.equal(stdout, 'T-0001\n')
    assert.match(stderr, /^notice: n2 was not submitted: The queue is full: 1 of 1 tasks are queued/)
    await workspace.fails(['orch', 'plan', 'execute', id], 4, 'queue_full')
    const {steps: nodes} = await status(workspace, id)
    assert.match(nodes[1]?.held_reason ?? '', /^queue_full: The queue is full: 1 of 1 tasks are queued/)
    assert.match(
      await workspace.text(['orch', 'plan', 'status', id]),
      /\n2 +n2 +pending .* queue_full: The queue is full: 1 of 1 tasks/,
    )
  })
})

describe('svc orch plan replan', {concurrency: 3}, () => {
  it('keeps completed steps and cancels the others', async (t) => {
    const workspace = await orchWorkspace(t, planning)
    const {session_id: id} = await make(workspace, goal)
    await execute(workspace, id)
    await workspace.text(['orch', 'claim'])
    await workspace.text(['orch', 'complete', '1', '--claim', '1'])
    const created = await workspace.json<KeptPlan>('cli/orch-plan.v1', ['orch', 'plan', 'replan', id, '-', '--write'], {
      input: 'Add the docs page\n',
    })
    assert.deepEqual([created.replan_version, created.written_to_disk], [2, true])
    assert.deepEqual(
      created.versions[0].steps.map(({node_id, status: how}) => `${node_id} ${how}`),
      ['n1 completed', 'n4 pending', 'n5 pending', 'n6 pending'],
    )
    assert.equal((await workspace.task(2)).status, 'Cancelled')
    assert.match(await readFile(join(workspace.cwd, 'PLAN.md'), 'utf8'), /- \[x\] 1\. Add the parser\n/)
    assert.match(
      await workspace.text(['orch', 'events', '--type', 'replan_triggered']),
      / plan-\S+ replanned as version 2: replan\n$/,
    )
  })

  it('reports an unknown plan and suggests the nearest one', async (t) => {
    const workspace = await orchWorkspace(t, planning)
    const {session_id: id} = await make(workspace, goal)
    const near = `${id.slice(0, -2)}__`
    for (const args of [
      ['replan', near, 'more'],
      ['status', near],
      ['execute', near],
    ]) {
      const sentence = await workspace.fails(['orch', 'plan', ...args], 3, 'plan_not_found')
      assert.match(sentence, new RegExp(`Did you mean ${id}\\?$`))
    }
    await workspace.fails(['orch', 'plan', 'replan', id, ' '], 2, 'plan_goal_invalid')
    await workspace.fails(['orch', 'plan', 'replan', id], 2, 'usage')
    await workspace.fails(['orch', 'plan', 'list', '--status', 'odd'], 2, 'usage')
  })
})
