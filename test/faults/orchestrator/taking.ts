import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {type SvcResult, svc} from '../../support/svc.js'
import {svcInTurn} from '../../support/svc-in-turn.js'
import {readStore} from './evidence.js'
import {storeOf} from './workspace.js'

interface Refusal {
  code: string
  message: string
  remediation: string
  exit: number
}

const env = {SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL: '0'}

/** Tasks as JSON lines. */
export const lines = (tasks: readonly unknown[]): string => tasks.map((task) => `${JSON.stringify(task)}\n`).join('')

/** Functions that submit input to a workspace and check the result. */
export function takingIn(root: string) {
  const orch = (args: readonly string[], input: string | Uint8Array = '') =>
    svcInTurn(['orch', ...args], {cwd: root, env, input})

  /** Number of tasks in any state. */
  const taskCount = (): number =>
    existsSync(storeOf(root))
      ? readStore(root, (database) => database.prepare('SELECT count(*) FROM orch_tasks').pluck().get() as number)
      : 0

  return {
    orch,
    taskCount,
    /** Runs in a separate process that reads from a pipe. */
    alone: (args: readonly string[], input: string | Uint8Array) => svc(['orch', ...args], {cwd: root, env, input}),
    batch: (input: string | Uint8Array) => orch(['submit', '--batch', '-', '--json'], input),

    /** Asserts that a call fails with one short message and creates no task. */
    async refused(call: () => Promise<SvcResult>, code: string, exit: number, message: RegExp): Promise<void> {
      const before = taskCount()
      const {stdout, exitCode} = await call()
      const {error} = JSON.parse(stdout) as {error?: Refusal}
      assert.ok(error !== undefined, `it was accepted: ${stdout.slice(0, 200)}`)
      assert.deepEqual([error.code, error.exit, exitCode], [code, exit, exit], error.message.slice(0, 500))
      assert.match(error.message, message)
      assert.match(error.message, /\.$/)
      assert.ok(error.message.length < 4000, `a message of ${error.message.length} characters`)
      assert.equal(taskCount(), before)
    },

    async accepted(call: () => Promise<SvcResult>, count = 1): Promise<number[]> {
      const before = taskCount()
      const {stdout, stderr, exitCode} = await call()
      assert.equal(exitCode, 0, `${stdout.slice(0, 500)}${stderr}`)
      assert.equal(taskCount(), before + count)
      return stdout
        .trimEnd()
        .split('\n')
        .map((each) => (JSON.parse(each) as {task_id: number}).task_id)
    },
  }
}
