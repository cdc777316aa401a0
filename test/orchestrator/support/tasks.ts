import assert from 'node:assert/strict'
import type {SubmitTaskV1} from '../../../src/contracts/index.js'
import type {Orchestrator} from '../../../src/orchestrator/index.js'
import type {TaskResult} from '../../../src/tasks/base/task.js'
import {applyJudgement} from '../../../src/tasks/completion/judgement.js'
import {
  type Completion,
  cancelTask,
  doubtTask,
  failTask,
  requireTask,
  submitTask,
  takeClaim,
} from '../../../src/tasks/index.js'
import {startNext} from '../../../src/tasks/lifecycle/dispatch.js'
import type {Finisher} from '../../../src/tasks/lifecycle/finish.js'
import type {TaskStatus} from '../../../src/workspace/index.js'

/** Submits a task and returns its id. */
export const submit = (orchestrator: Orchestrator, submission: Partial<SubmitTaskV1> = {}): number =>
  submitTask(orchestrator, {description: 'work', ...submission}).task_id

/** Submits a task that writes these files. */
export const submitWriter = (orchestrator: Orchestrator, paths: string[], submission: Partial<SubmitTaskV1> = {}) =>
  submit(orchestrator, {file_manifest: paths.map((path) => ({path, access: 'write'})), ...submission})

/** Completes a task in progress as if its gates had accepted it. */
export const acceptTask = (
  orchestrator: Orchestrator,
  id: number,
  result?: TaskResult,
  finisher: Finisher = {},
): Completion =>
  orchestrator.store.transaction(() => {
    const {generation} = requireTask(orchestrator, id)
    const evidence = {files: [], checks: [], observations: [], harness: noHarness, attestation: {}} as never
    return applyJudgement(orchestrator, {
      id,
      result,
      finisher,
      generation,
      collected: {evidence, sinceMs: 0},
      evaluation: {results: []},
    })
  })

const noHarness = {required_checks: [], required_artifacts: [], accept: []}

/** Starts the next task of an agent as the daemon would. Returns its id, or undefined if none can start. */
export const startOne = (orchestrator: Orchestrator, agentId: number): number | undefined =>
  orchestrator.store.transaction(() => startNext(orchestrator, agentId, {owner: 'test'}))?.task.id

/** Starts and completes all tasks of an agent in turn, and returns their ids. */
export function runAll(orchestrator: Orchestrator, agentId: number): number[] {
  const ids: number[] = []
  for (let id = startOne(orchestrator, agentId); id !== undefined; id = startOne(orchestrator, agentId)) {
    ids.push(id)
    acceptTask(orchestrator, id, undefined, claimOf(orchestrator, id))
  }
  return ids
}

/** Starts a task that is first in its queue. */
export function start(orchestrator: Orchestrator, id: number): number {
  assert.equal(startOne(orchestrator, requireTask(orchestrator, id).agent_id), id)
  return id
}

/** Completes a task that is first in its queue. */
export const complete = (orchestrator: Orchestrator, id: number) =>
  acceptTask(orchestrator, start(orchestrator, id), undefined, claimOf(orchestrator, id))

/** Fails a task that is first in its queue. */
export const fail = (orchestrator: Orchestrator, id: number, reason = 'broken') =>
  failTask(orchestrator, start(orchestrator, id), reason, claimOf(orchestrator, id))

/** The current claim on a task, which its holder needs to end it. */
export const claimOf = (orchestrator: Orchestrator, id: number): {generation: number} => {
  const {generation} = requireTask(orchestrator, id)
  return {generation}
}

export const statusOf = (orchestrator: Orchestrator, id: number) => requireTask(orchestrator, id).status

/** Creates a task with a given status in an empty workspace, and its dependency if it is blocked. Returns its id. */
export function taskThatIs(orchestrator: Orchestrator, status: TaskStatus): number {
  const external = {processor: 'external'} as const
  const claimed = () => {
    const id = submit(orchestrator, external)
    assert.equal(takeClaim(orchestrator, {owner: 'test'}).task.id, id)
    return id
  }
  const make: Readonly<Record<TaskStatus, () => number>> = {
    Queued: () => submit(orchestrator),
    InProgress: claimed,
    Blocked: () => submit(orchestrator, {depends_on: [submit(orchestrator)]}),
    BlockedOnApproval: () => submit(orchestrator, {requires_approval: true}),
    Doubted: () => doubtTask(orchestrator, submit(orchestrator)).id,
    Completed: () => acceptTask(orchestrator, claimed(), undefined, {generation: 1}).task.id,
    Failed: () => failTask(orchestrator, claimed(), 'broken', {generation: 1}).id,
    Cancelled: () => cancelTask(orchestrator, submit(orchestrator)).id,
  }
  const id = make[status]()
  assert.equal(statusOf(orchestrator, id), status)
  return id
}
