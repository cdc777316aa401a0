import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {Award} from '../../src/tasks/events/awards.js'
import type {Task} from '../../src/tasks/index.js'
import {assertFits, type OrchWorkspace, orchWorkspace, until} from '../support/orch-workspace.js'

const contract = 'cli/orch-task.v1'

/** Creates a workspace with a claimed task. */
async function claimed(t: Parameters<typeof orchWorkspace>[0], ...args: string[]): Promise<OrchWorkspace> {
  const workspace = await orchWorkspace(t)
  await workspace.submit('x', '--processor', 'external', ...args)
  assert.equal(await workspace.text(['orch', 'claim', '--as', 'me']), 'T-0001 1\n')
  return workspace
}

describe('svc orch claim and heartbeat', {concurrency: 3}, () => {
  it('claim a task and extend the claim', async (t) => {
    const {submit, json, fails} = await orchWorkspace(t)
    await submit('background', '--processor', 'external', '-p', 'background')
    await submit('urgent', '--processor', 'external', '-p', 'urgent')
    await submit('ours')
    const args = ['orch', 'claim', '--as', 'me', '--ttl', '60']
    const {task, generation} = await json<{task: Task; generation: number}>('cli/orch-claim.v1', args)
    await assertFits(contract, task)
    assert.deepEqual([task.id, task.status, task.claim?.owner, generation], [2, 'InProgress', 'me', 1])
    const ttl = (task.claim?.expires_at_ms ?? 0) - (task.started_at_ms ?? 0)
    assert.ok(ttl > 59_000 && ttl < 61_000, String(ttl))

    const heartbeat = ['orch', 'heartbeat', '2', '--claim', '1', '--ttl', '600']
    const {expires_at_ms: ends} = await json<{expires_at_ms: number}>('cli/orch-heartbeat.v1', heartbeat)
    assert.ok(ends - (task.claim?.expires_at_ms ?? 0) > 500_000)
    await fails(['orch', 'heartbeat', '2', '--claim', '7'], 4, 'claim_lost')
    await fails(['orch', 'heartbeat', '9', '--claim', '1'], 3, 'task_not_found')
    await fails(['orch', 'heartbeat', '2'], 2, 'usage')
  })

  it('requeue a task whose claim has expired', async (t) => {
    const {submit, text, fails, task, events} = await orchWorkspace(t)
    await submit('x', '--processor', 'external')
    await text(['orch', 'claim', '--ttl', '1'])
    assert.equal(await text(['orch', 'claim', '--wait', '--as', 'second']), 'T-0001 3\n')
    await fails(['orch', 'complete', '1', '--claim', '1'], 4, 'claim_lost')
    assert.equal((await task(1)).claim?.owner, 'second')
    assert.equal((await events('--type', 'task_claim_expired')).length, 1)
  })

  it('wait for a task, or report that there is none', async (t) => {
    const {fails, startInTurn, submit, text} = await orchWorkspace(t)
    await fails(['orch', 'claim'], 3, 'no_task_to_claim')
    await fails(['orch', 'claim', '--agent', 'nobody', '--wait'], 3, 'agent_not_found')
    await fails(['orch', 'claim', '--ttl', '0'], 2, 'usage')
    const waiting = startInTurn(['orch', 'claim', '--wait'])
    const stopped = startInTurn(['orch', 'claim', '--wait', '--agent', 'core'])
    await submit('for anna', '--processor', 'external', '--agent', 'anna')
    assert.equal(await waiting.line(1), 'T-0001 1')
    assert.equal(await waiting.end(), 0)
    await until(async () => (await text(['orch', 'tasks', '-s', 'inprogress'])).includes('T-0001'), 'the claim')
    await stopped.end('SIGINT')
    assert.deepEqual(stopped.lines, [])
  })
})

describe('svc orch complete and fail', {concurrency: 3}, () => {
  it('complete a task that is in progress', async (t) => {
    const {json, submit, task} = await claimed(t)
    await submit('after it', '--after', '1')
    const done = await json<Task>(contract, ['orch', 'complete', 'T-0001', '--claim', '1', '--summary', '-'], {
      input: 'it is done\n',
    })
    assert.deepEqual([done.status, done.result], ['Completed', {text: 'it is done'}])
    assert.equal((await task(2)).status, 'Queued')
  })

  it('require the claim of a claimed task, or --force, which is recorded as an event', async (t) => {
    const {text, task, fails, events} = await claimed(t)
    await fails(['orch', 'complete', '1'], 4, 'claim_required')
    await fails(['orch', 'fail', '1', '--reason', 'no luck'], 4, 'claim_required')
    assert.equal((await task(1)).status, 'InProgress')
    const failed = await text(['orch', 'fail', '1', '--reason', 'no luck', '--force'])
    assert.equal(failed, 'T-0001 is Failed (agent core): no luck\n')
    assert.deepEqual([(await task(1)).status_reason, (await task(1)).result], ['no luck', undefined])
    assert.equal((await events('--type', 'task_claim_overridden')).length, 1)
  })

  it('refuse an expired claim, a queued task and an unknown task', async (t) => {
    const {submit, fails, task} = await claimed(t)
    await submit('waiting')
    for (const verb of [['complete'], ['fail', '-r', 'x']]) {
      await fails(['orch', ...verb, '1', '--claim', '2'], 4, 'claim_lost')
      await fails(['orch', ...verb, '2'], 4, 'invalid_transition')
      await fails(['orch', ...verb, '3'], 3, 'task_not_found')
      await fails(['orch', ...verb, 'x'], 2, 'usage')
      await fails(['orch', ...verb, '1', '--claim', '0'], 2, 'usage')
    }
    await fails(['orch', 'fail', '1'], 2, 'usage')
    assert.equal((await task(1)).status, 'InProgress')
  })
})

describe('svc orch cancel and retry', {concurrency: 3}, () => {
  it('cancel a task and fail its dependants', async (t) => {
    const {submit, json, task, fails} = await orchWorkspace(t)
    await submit('a')
    await submit('b', '--after', '1')
    const {status, status_reason: reason} = await json<Task>(contract, ['orch', 'cancel', '1', '-r', 'late'])
    assert.deepEqual([status, reason], ['Cancelled', 'late'])
    assert.equal((await task(2)).status, 'Failed')
    await fails(['orch', 'retry', '2'], 4, 'dependency_failed')
    await json('cli/orch-tasks.v1', ['orch', 'retry', '1'])
    assert.equal((await task(1)).status, 'Queued')
    await fails(['orch', 'retry', '1'], 4, 'invalid_transition')
    await fails(['orch', 'cancel', '9'], 3, 'task_not_found')
    await fails(['orch', 'cancel'], 2, 'usage')
  })

  it('retry a failed task, alone or with its dependants', async (t) => {
    const {submit, text, json, task, fails} = await claimed(t)
    await submit('b', '--after', '1')
    await text(['orch', 'fail', '1', '--claim', '1', '-r', 'no luck'])
    assert.equal((await task(2)).status, 'Failed')
    const {tasks} = await json<{tasks: Task[]}>('cli/orch-tasks.v1', ['orch', 'retry', '1', '--dependants'])
    for (const one of tasks) await assertFits(contract, one)
    assert.deepEqual(
      tasks.map(({id, status, retry_count: retries}) => [id, status, retries]),
      [
        [1, 'Queued', 1],
        [2, 'Blocked', 1],
      ],
    )
    await fails(['orch', 'retry', '1'], 4, 'invalid_transition')
    await text(['orch', 'claim'])
    await text(['orch', 'fail', '1', '--force', '-r', 'again'])
    assert.equal(await text(['orch', 'retry', '1']), 'T-0001 is Queued (agent core)\n')
    assert.equal((await task(2)).status, 'Failed')
    await fails(['orch', 'retry', '9'], 3, 'task_not_found')
  })
})

describe('svc orch cancel and retry of several tasks', {concurrency: 3}, () => {
  interface Outcomes {
    dry_run: boolean
    failed: number
    tasks: {display_id: string; status?: string; error?: {code: string}}[]
  }
  const brief = ({tasks}: Outcomes) => tasks.map((task) => [task.display_id, task.status ?? task.error?.code])

  it('cancel the tasks that can be cancelled, and exit with status 1 for the others', async (t) => {
    const {submit, run, task} = await claimed(t)
    await submit('b', '--after', '1')
    await submit('c')
    const {stdout, exitCode} = await run(['orch', 'cancel', 'T-0001', '2', '9', '-r', 'late', '--json'])
    assert.equal(exitCode, 1)
    const outcomes = JSON.parse(stdout) as Outcomes
    await assertFits('cli/orch-outcomes.v1', outcomes)
    assert.deepEqual(brief(outcomes), [
      ['T-0001', 'Cancelled'],
      ['T-0002', 'Cancelled'],
      ['T-0009', 'task_not_found'],
    ])
    assert.deepEqual([outcomes.dry_run, outcomes.failed], [false, 1])
    assert.deepEqual([(await task(2)).status_reason, (await task(3)).status], ['late', 'Queued'])
    const plain = await run(['orch', 'cancel', '3', '9'])
    assert.deepEqual(
      [plain.stdout, plain.exitCode],
      ['T-0003 is Cancelled\nT-0009 is unchanged: Task T-0009 does not exist in this workspace. (task_not_found)\n', 1],
    )
  })

  it('select unfinished or failed tasks by agent, session, status, age or --all', async (t) => {
    const {submit, text} = await claimed(t)
    await text(['orch', 'fail', '1', '--claim', '1', '-r', 'no luck'])
    await submit('b', '--agent', 'anna', '--session-id', 's1')
    await submit('c', '--agent', 'anna')
    assert.equal(await text(['orch', 'cancel', '--older-than', '1h']), 'No tasks.\n')
    assert.equal(await text(['orch', 'cancel', '--session-id', 's1', '--agent', 'anna']), 'T-0002 is Cancelled\n')
    assert.equal(await text(['orch', 'cancel', '--status', 'blocked']), 'No tasks.\n')
    assert.equal(await text(['orch', 'retry', '--older-than', '0s']), 'T-0001 is Queued\n')
    assert.equal(await text(['orch', 'cancel', '--all']), 'T-0001 is Cancelled\nT-0003 is Cancelled\n')
    assert.equal(await text(['orch', 'retry', '--all']), 'No tasks.\n')
  })

  it('change nothing with --dry-run, even for one task', async (t) => {
    const {submit, text, json, tasks} = await orchWorkspace(t)
    await submit('a')
    await submit('b', '--after', '1')
    const before = await tasks()
    assert.equal(await text(['orch', 'cancel', '1', '--dry-run']), 'T-0001 would be Cancelled\n')
    const outcomes = await json<Outcomes>('cli/orch-outcomes.v1', ['orch', 'cancel', '--all', '--dry-run'])
    assert.deepEqual(
      [outcomes.dry_run, brief(outcomes)],
      [
        true,
        [
          ['T-0001', 'Cancelled'],
          ['T-0002', 'Cancelled'],
        ],
      ],
    )
    assert.deepEqual(await tasks(), before)
  })

  it('retry tasks in dependency order', async (t) => {
    const {submit, text} = await claimed(t)
    await submit('b', '--after', '1')
    await submit('c', '--after', '2')
    await text(['orch', 'fail', '1', '--claim', '1', '-r', 'no luck'])
    const retried = 'T-0001 would be Queued\nT-0002 would be Blocked\nT-0003 would be Blocked\n'
    assert.equal(await text(['orch', 'retry', '--all', '--dry-run']), retried)
    assert.equal(await text(['orch', 'retry', '3', '1', '2', '--dry-run']), retried)
    assert.equal(await text(['orch', 'retry', '--agent', 'core', '--dependants', '--dry-run']), retried)
  })

  it('require either ids or a filter', async (t) => {
    const {fails} = await orchWorkspace(t)
    for (const verb of ['cancel', 'retry']) {
      await fails(['orch', verb], 2, 'usage')
      await fails(['orch', verb, '--dry-run'], 2, 'usage')
      await fails(['orch', verb, '1', '--all'], 2, 'usage')
      await fails(['orch', verb, '1', 'x'], 2, 'usage')
      await fails(['orch', verb, '--all', '--agent', 'core'], 2, 'usage')
      assert.match(
        await fails(['orch', verb, '--older-than', 'soon'], 2, 'flag_value'),
        /--older-than must be a duration .*not "soon"/,
      )
    }
  })
})

describe('svc orch prune', {concurrency: 3}, () => {
  it('deletes finished tasks, and reports how many are kept and why', async (t) => {
    const {submit, text, json, tasks} = await claimed(t)
    await text(['orch', 'complete', '1', '--claim', '1'])
    await submit('b')
    await submit('c', '--after', '1', '--after', '2')
    await text(['orch', 'cancel', '2'])
    assert.equal(await text(['orch', 'prune', '--older-than', '1h']), '0 tasks deleted\n')
    const args = ['orch', 'prune', '--older-than', '0s']
    assert.equal(
      await text([...args, '--dry-run', '-s', 'cancelled', '-s', 'completed']),
      '0 tasks would be deleted\n2 tasks kept: other tasks depend on them\n',
    )
    const pruned = await json('cli/orch-prune.v1', args)
    assert.deepEqual(pruned, {dry_run: false, removed: 3, kept: {dependency: 0, plan: 0, journey: 0, run: 0}})
    assert.deepEqual(await tasks(), [])
    assert.equal(await submit('d'), 'T-0004')
  })

  it('requires an age and accepts only finished statuses', async (t) => {
    const {fails} = await orchWorkspace(t)
    await fails(['orch', 'prune'], 2, 'usage')
    const args = ['orch', 'prune', '--older-than', '1d', '--status', 'queued']
    assert.match(await fails(args, 2, 'flag_value'), /completed, failed or cancelled, not "Queued"/)
  })
})

describe('svc orch reorder and approve', {concurrency: 3}, () => {
  it('change the priority of a queued task', async (t) => {
    const {json, submit, fails} = await claimed(t)
    await submit('x')
    assert.equal((await json<Task>(contract, ['orch', 'reorder', '2', 'URGENT'])).priority, 'urgent')
    await fails(['orch', 'reorder', '1', 'urgent'], 4, 'invalid_transition')
    await fails(['orch', 'reorder', '9', 'urgent'], 3, 'task_not_found')
    assert.match(
      await fails(['orch', 'reorder', '2', 'soon'], 2, 'flag_value'),
      /background, normal, urgent, not "soon"/,
    )
    await fails(['orch', 'reorder', '2'], 2, 'usage')
  })

  it('queue a task that waits for approval', async (t) => {
    const {submit, json, fails} = await orchWorkspace(t)
    await submit('x', '--requires-approval')
    assert.equal((await json<Task>(contract, ['orch', 'approve', '1'])).status, 'Queued')
    await fails(['orch', 'approve', '1'], 4, 'invalid_transition')
    await fails(['orch', 'approve', '2'], 3, 'task_not_found')
    await fails(['orch', 'approve'], 2, 'usage')
  })
})

describe('svc orch doubt, resolve and overrule', {concurrency: 3}, () => {
  it('append the report of a justified doubt to the task', async (t) => {
    const {text, json, fails} = await claimed(t)
    assert.equal(
      await text(['orch', 'doubt', '1', '-r', 'two specs']),
      'T-0001 is Doubted (agent resolution): two specs\n',
    )
    await fails(['orch', 'complete', '1', '--claim', '1'], 4, 'claim_lost')
    const args = ['orch', 'resolve', '1', '--justified', '--report', '-']
    const {task, awards} = await json<{task: Task; awards: Award[]}>('cli/orch-resolve.v1', args, {
      input: 'Follow the newer one; the agent was over-agreeable.\n',
    })
    await assertFits(contract, task)
    assert.deepEqual([task.status, task.agent_name], ['Queued', 'core'])
    assert.match(task.description, /^x\n\n\[RESOLUTION\]\nFollow the newer one/)
    assert.deepEqual(
      awards.map(({award, points}) => [award, points]),
      [
        ['healthy_skepticism', 200],
        ['internal_affairs', 200],
      ],
    )
  })

  it('requeue a validated task, or complete it', async (t) => {
    const {submit, text, task} = await orchWorkspace(t)
    await submit('a')
    await submit('b')
    for (const id of ['1', '2']) await text(['orch', 'doubt', id])
    const resolve = (...args: string[]) => text(['orch', 'resolve', ...args, '--validated', '--report', 'sound'])
    assert.equal(await resolve('1'), 'T-0001 is Queued (agent core)\nA-01 earned 0 points: blind_faith\n')
    assert.match(await resolve('2', '--no-resume'), /^T-0002 is Completed \(agent core\)\n/)
    assert.deepEqual([(await task(1)).audit_report, (await task(2)).audit_report], ['sound', 'sound'])
  })

  it('accept a doubted task as completed', async (t) => {
    const {text, json, fails, submit} = await claimed(t)
    await fails(['orch', 'overrule', '1'], 4, 'invalid_transition')
    await text(['orch', 'doubt', '1'])
    const {status, audit_report: report} = await json<Task>(contract, ['orch', 'overrule', '1', '-r', 'good enough'])
    assert.deepEqual([status, report], ['Completed', 'OVERRULED: good enough'])
    assert.match(await text(['orch', 'doubt', '1']), /^T-0001 is Doubted/)
    await submit('y')
    await fails(['orch', 'resolve', '2', '--validated', '--report', 'x'], 4, 'invalid_transition')
  })

  it('require exactly one answer and a report', async (t) => {
    const {fails} = await claimed(t)
    const resolve = ['orch', 'resolve', '1']
    await fails([...resolve, '--report', 'x'], 2, 'usage')
    await fails([...resolve, '--validated', '--justified', '--report', 'x'], 2, 'usage')
    await fails([...resolve, '--validated'], 2, 'usage')
    await fails([...resolve, '--validated', '--report', ' '], 2, 'usage')
    await fails([...resolve, '--justified', '--no-resume', '--report', 'x'], 2, 'usage')
    for (const verb of [['doubt'], ['overrule'], ['resolve', '--validated', '--report', 'x']]) {
      await fails(['orch', ...verb, '9'], 3, 'task_not_found')
      await fails(['orch', ...verb, 'x'], 2, 'usage')
    }
  })
})
