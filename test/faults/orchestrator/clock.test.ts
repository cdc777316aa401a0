import assert from 'node:assert/strict'
import {once} from 'node:events'
import {rmSync, writeFileSync} from 'node:fs'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {until} from '../../support/until.js'
import {clockedHere, clockedProcess, hour} from './clock-steps.js'
import {readStore, readTraces} from './evidence.js'
import {oracles} from './oracles.js'
import {startDaemonInTurn, temporaryWorkspace} from './process.js'

interface Status {
  id: number
  status: string
  status_reason: string | null
}

const statuses = (root: string): Status[] =>
  readStore(root, (database) =>
    database.prepare<[], Status>('SELECT id, status, status_reason FROM orch_tasks ORDER BY id').all(),
  )

/** Waits until the tasks satisfy a condition. */
const untilTasks = (root: string, holds: (tasks: readonly Status[]) => boolean) =>
  until(
    () => holds(statuses(root)),
    () => JSON.stringify(statuses(root)),
  )

const allCompleted = (tasks: readonly Status[]) => tasks.every(({status}) => status === 'Completed')

/** Asserts the conditions that hold for any clock step: each task ran once and in order. */
function assertSound(root: string): void {
  const traces = readTraces(root)
  for (const name of [
    'every task is completed',
    'each task is completed once',
    'each attempt starts once',
    'no completed task starts again',
    'attempts of a task do not overlap',
    'the recorded attempt is the last one',
    'dependencies end first',
    'agent counters are correct',
  ] as const)
    assert.deepEqual(oracles[name](traces as never), [], name)
}

const work = (seconds: number, more: object = {}) => ({
  description: 'work',
  exec: {template: 'work', params: {seconds: String(seconds)}},
  ...more,
})

/** Prevents tasks from finishing until `release`. */
const hold = (root: string) => writeFileSync(join(root, 'hold'), '')
const release = (root: string) => rmSync(join(root, 'hold'))

/** End of the lease of the daemon, Unix ms. */
const leaseEnd = (root: string): number =>
  readStore(root, (database) => database.prepare('SELECT expires_at_ms FROM orch_leases').pluck().get() as number)

const external = {description: 'work of a client', processor: 'external'} as const

describe('tasks of a workspace whose clock jumps by an hour', {concurrency: 3}, () => {
  for (const [direction, ms] of [
    ['forward', hour],
    ['back', -hour],
  ] as const) {
    it(`${direction} between submission and dispatch all run once and in order`, async (test) => {
      const root = await temporaryWorkspace(test)
      const submitter = await clockedHere(test, root)
      for (let i = 0; i < 12; i++) {
        await submitter.clock(i % 2 === 0 ? 0 : ms)
        const {id} = await submitter.ask({
          step: 'submit',
          submission: work(0.01, {target_agent: 'ada', depends_on: i < 4 ? [] : [i - 3]}),
        })
        assert.equal(id, i + 1)
      }
      startDaemonInTurn(root)
      await untilTasks(root, allCompleted)
      assertSound(root)
      const order = readTraces(root).journal.flatMap(({what, task}) => (what === 'start' ? [task] : []))
      assert.deepEqual(order.slice(0, 4), [1, 2, 3, 4])
    })

    it(`${direction} while they run all complete and do not run again`, async (test) => {
      const root = await temporaryWorkspace(test)
      const daemon = await clockedHere(test, root)
      const submitter = await clockedHere(test, root)
      await daemon.ask({step: 'daemon'})
      for (const off of [ms, 0, ms]) {
        hold(root)
        for (const target_agent of ['ada', 'bob', 'ada', 'bob'])
          await submitter.ask({step: 'submit', submission: work(0.01, {target_agent})})
        await untilTasks(root, (tasks) => tasks.filter(({status}) => status === 'InProgress').length === 2)
        await daemon.clock(off)
        release(root)
        await untilTasks(root, allCompleted)
      }
      await submitter.clock(ms)
      await submitter.ask({step: 'submit', submission: work(0.01)})
      await untilTasks(root, allCompleted)
      assertSound(root)
      assert.equal(readTraces(root).events.filter(({type}) => type === 'task_requeued').length, 0)
      assert.deepEqual(await daemon.ask({step: 'end'}), {})
    })

    it(`${direction} keep their daemon, and a second daemon is rejected`, async (test) => {
      const root = await temporaryWorkspace(test)
      const first = await clockedProcess(test, root)
      await first.ask({step: 'daemon'})
      const second = await clockedHere(test, root)
      await second.clock(ms)
      assert.deepEqual(await second.ask({step: 'daemon'}), {refused: 'daemon_running'})
      const before = leaseEnd(root)
      await first.clock(ms)
      // The next renewal uses the new clock.
      await until(
        () => Math.sign(ms) * (leaseEnd(root) - before) > hour / 2,
        () => `the lease ends at ${leaseEnd(root)}, before the jump at ${before}`,
      )
      await first.ask({step: 'submit', submission: work(0.01)})
      await untilTasks(root, allCompleted)
      assertSound(root)
    })

    it(`${direction} do not write the same file concurrently`, async (test) => {
      const root = await temporaryWorkspace(test)
      const daemon = await clockedHere(test, root)
      const submitter = await clockedHere(test, root)
      const file_manifest = [{path: 'a.txt', access: 'write'}]
      await daemon.ask({step: 'daemon'})
      hold(root)
      await submitter.ask({step: 'submit', submission: work(0.01, {target_agent: 'ada', file_manifest})})
      await untilTasks(root, ([first]) => first?.status === 'InProgress')
      await submitter.clock(ms)
      await daemon.clock(ms)
      const second = await submitter.ask({
        step: 'submit',
        submission: work(0.01, {target_agent: 'bob', file_manifest}),
      })
      assert.deepEqual(second, {refused: 'lock_conflict'})
      release(root)
      await untilTasks(root, allCompleted)
      const third = await submitter.ask({
        step: 'submit',
        submission: work(0.01, {target_agent: 'bob', file_manifest}),
      })
      assert.equal(third.refused, undefined)
      await untilTasks(root, allCompleted)
      assertSound(root)
    })

    it(`${direction} while a client has claimed one can be claimed by another, and complete once`, async (test) => {
      const root = await temporaryWorkspace(test)
      const client = await clockedHere(test, root)
      const other = await clockedHere(test, root)
      await client.ask({step: 'submit', submission: external})
      const claim = await client.ask({step: 'claim', ttlMs: 30_000})
      assert.deepEqual(claim, {id: 1, generation: 1})
      await other.clock(ms)
      const again = await other.ask({step: 'claim', ttlMs: 30_000})
      assert.equal(again.id, 1)
      const [mine, theirs] = [1, again.generation ?? 0]
      assert.deepEqual(await client.ask({step: 'renew', id: 1, generation: mine}), {refused: 'claim_lost'})
      assert.deepEqual(await client.ask({step: 'complete', id: 1, generation: mine}), {refused: 'claim_lost'})
      assert.deepEqual(await other.ask({step: 'complete', id: 1, generation: theirs}), {})
      const {events} = readTraces(root)
      assert.equal(events.filter(({type}) => type === 'task_completed').length, 1)
    })

    it(`${direction} while the inference server returns invalid responses are retried soon, and fail`, async (test) => {
      let calls = 0
      const server = createServer((request, response) => {
        if (request.url === '/api/generate') calls++
        response.end('not yet')
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      test.after(() => server.close())
      const {port} = server.address() as AddressInfo
      const root = await temporaryWorkspace(
        test,
        `[orchestrator]\nmax_task_retries = 2\n[mesh]\ninference_base_url = "http://127.0.0.1:${port}"\n`,
      )
      const daemon = await clockedHere(test, root)
      await daemon.ask({step: 'submit', submission: {description: 'think'}})
      await daemon.ask({step: 'daemon'})
      await untilTasks(root, ([task]) => task?.status_reason?.startsWith('inference_protocol') === true)
      await daemon.clock(ms)
      await untilTasks(root, ([task]) => task?.status === 'Failed')
      assert.ok(calls >= 3, `${calls} calls`)
      assert.deepEqual(await daemon.ask({step: 'retry', id: 1}), {})
      await daemon.clock(0)
      await untilTasks(root, ([task]) => task?.status === 'Failed')
    })
  }
})
