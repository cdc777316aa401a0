import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {listTasks, requireTask, submitBatch} from '../../src/tasks/index.js'
import {contents, openTestOrchestrator, refused} from '../orchestrator/support/open-test-orchestrator.js'
import {complete, runAll, submit} from '../orchestrator/support/tasks.js'

const idsOf = (taken: readonly {task_id: number}[]) => taken.map(({task_id}) => task_id)

describe('a batch of tasks', () => {
  it('returns its tasks in order, with dependencies by position', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const before = submit(orchestrator)
    const taken = submitBatch(orchestrator, [
      {description: 'last', temp_deps: [1, 2, 2]},
      {description: 'middle', temp_deps: [2], depends_on: [before]},
      {description: 'first'},
    ])
    const [last = 0, middle = 0, first = 0] = idsOf(taken)
    assert.deepEqual(
      idsOf(taken).map((id) => requireTask(orchestrator, id).description),
      ['last', 'middle', 'first'],
    )
    assert.deepEqual(
      taken.map(({status}) => status),
      ['Blocked', 'Blocked', 'Queued'],
    )
    assert.deepEqual(requireTask(orchestrator, middle).depends_on, [before, first])
    assert.deepEqual(new Set(requireTask(orchestrator, last).depends_on), new Set([middle, first]))
    assert.deepEqual(runAll(orchestrator, 1), [before, first, middle, last])
  })

  it('returns nothing if it is empty', async (t) => {
    assert.deepEqual(submitBatch(await openTestOrchestrator(t), []), [])
  })

  const work = {description: 'work'}
  const refusals = [
    [
      'a position beyond its end',
      'task_invalid',
      [work, {...work, temp_deps: [2]}],
      /^Task 2 \("work"\).*position 2; the positions in the batch are 0 to 1\./,
    ],
    ['a position before its start', 'task_invalid', [work, {...work, temp_deps: [-1]}], /^Task 2 \("work"\)/],
    ['a position that is not an integer', 'task_invalid', [work, {...work, temp_deps: [0.5]}], /^Task 2 \("work"\)/],
    ['a task that depends on itself', 'dependency_cycle', [{...work, temp_deps: [0]}], /Task 1 .* -> Task 1 /],
    [
      'a cycle',
      'dependency_cycle',
      [work, {...work, temp_deps: [3, 0]}, {...work, temp_deps: [1]}, {...work, temp_deps: [2]}],
      /2.* -> .*4.* -> .*3|4.* -> .*3.* -> .*2|3.* -> .*2.* -> .*4/,
    ],
    [
      'an unknown task',
      'dependency_unknown',
      [work, {...work, depends_on: [99]}],
      /^Task 2 of the batch \("work"\): .*T-0099/,
    ],
    ['a task without a description', 'task_invalid', [work, {description: ' '}], /Task 2 of the batch/],
    [
      'a path outside the workspace',
      'task_path_escapes',
      [work, {...work, file_manifest: [{path: '../x', access: 'read'}]}],
      /^Task 2 of the batch .*\.\.\/x/,
    ],
    [
      'two writers of one file',
      'lock_conflict',
      ['one', 'two'].map((target_agent) => ({...work, target_agent, file_manifest: [{path: 'a', access: 'write'}]})),
      /^Task 2 of the batch \("work"\): a is locked by a task of one/,
    ],
  ] as const
  for (const [what, code, batch, message] of refusals)
    it(`with ${what} is rejected completely`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      submit(orchestrator)
      const before = contents(orchestrator)
      const error = refused(code, () => submitBatch(orchestrator, structuredClone(batch) as never))
      assert.match(error.message, message)
      assert.deepEqual(contents(orchestrator), before)
    })

  it('is rejected if a task lists its files twice, differently', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const read = [{path: 'a', access: 'read'}]
    const write = [{path: 'a', access: 'write'}]
    const batch = [work, {description: 'Review\nit', files: read, file_manifest: write}]
    const {message} = refused('task_invalid', () => submitBatch(orchestrator, batch))
    assert.match(message, /^Task 2 of the batch \("Review it"\) .*files and its file_manifest differ/)
    const ids = idsOf(
      submitBatch(orchestrator, [
        {...work, files: read},
        {...work, files: write, file_manifest: write},
      ]),
    )
    assert.deepEqual(
      ids.map((id) => requireTask(orchestrator, id).file_manifest),
      [read, write],
    )
  })

  it('can have two writers of one file if one depends on the other', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const file_manifest = [{path: 'a', access: 'write'}]
    const [first = 0, second = 0] = idsOf(
      submitBatch(orchestrator, [
        {...work, file_manifest, target_agent: 'one'},
        {...work, file_manifest, target_agent: 'two', temp_deps: [0]},
      ]),
    )
    complete(orchestrator, first)
    complete(orchestrator, second)
  })

  it('returns the existing tasks if it is resubmitted with the same keys', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const batch = [
      {description: 'a', idempotency_key: 'a'},
      {description: 'b', idempotency_key: 'b', temp_deps: [0]},
    ]
    const first = submitBatch(orchestrator, batch)
    const second = submitBatch(orchestrator, batch)
    assert.deepEqual(idsOf(second), idsOf(first))
    assert.ok(second.every(({duplicate}) => duplicate === true))
    assert.equal(listTasks(orchestrator).length, 2)
  })

  it('names every task of a cycle of three, and no others', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const batch = [[], [3, 0], [1], [2], [1]].map((temp_deps) => ({...work, temp_deps}))
    const {cycle} = refused('dependency_cycle', () => submitBatch(orchestrator, batch)).params
    const places = cycle.map((name) => Number(/\d+/.exec(name)?.[0]))
    assert.deepEqual(new Set(places), new Set([2, 3, 4]))
    assert.equal(places.at(0), places.at(-1))
  })
})
