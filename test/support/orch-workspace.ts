import assert from 'node:assert/strict'
import {realpath} from 'node:fs/promises'
import type {TestContext} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import type {StatusReport} from '../../src/orchestrator/index.js'
import type {Agent, EventRecord, Task} from '../../src/tasks/index.js'
import {addEmptyStore} from './empty-store.js'
import {type SvcOptions, svc} from './svc.js'
import {type Going, startAlone, startInTurn, svcInTurn} from './svc-in-turn.js'
import {temporaryFolder, writeFiles} from './temporary.js'
import {until} from './until.js'

export {until}

/** Command templates of a test workspace. */
export const templates = `[orchestrator.exec]
enabled = true
[orchestrator.exec.templates]
say = ["echo", "{word}"]
break = ["false"]
nap = ["sleep", "{seconds}"]
`

export type OrchWorkspace = Awaited<ReturnType<typeof orchWorkspace>>

/**
 * A folder with an `Svc.toml` and an empty store, and functions that run commands in it. `start` and `alone` use a separate
 * process.
 */
export async function orchWorkspace(test: Pick<TestContext, 'after'>, toml = templates, {hasStore = true} = {}) {
  const going: Going[] = []
  // Commands that still write to the folder are ended before it is removed.
  const after: typeof test.after = (remove) =>
    test.after(async () => {
      await Promise.all(going.map(({close}) => close()))
      await (remove as () => Promise<void>)()
    })
  const cwd = await realpath(await temporaryFolder({after}))
  await writeFiles(cwd, {'Svc.toml': toml})
  if (hasStore) await addEmptyStore(cwd)
  const run = (args: readonly string[], options: SvcOptions = {}) => svcInTurn(args, {cwd, ...options})

  /** Runs a command that must succeed and returns its standard output. */
  const text = async (args: readonly string[], options: SvcOptions = {}): Promise<string> => {
    const {stdout, stderr, exitCode} = await run(args, options)
    assert.equal(exitCode, 0, stderr)
    return stdout
  }
  /** Runs a command with `--json` that must succeed, and returns its result, which must match the contract. */
  const json = async <T>(contract: string, args: readonly string[], options: SvcOptions = {}): Promise<T> => {
    const result = JSON.parse(await text([...args, '--json'], options)) as T
    await assertFits(contract, result)
    return result
  }
  return {
    cwd,
    run,
    alone: (args: readonly string[], options: SvcOptions = {}) => svc(args, {cwd, ...options}),
    text,
    json,
    task: (id: number | string) => json<Task>('cli/orch-task.v1', ['orch', 'task', String(id)]),
    /** Tasks, newest first; each must match its contract. */
    async tasks(...args: string[]): Promise<Task[]> {
      const {tasks} = await json<{tasks: Task[]}>('cli/orch-tasks.v1', ['orch', 'tasks', ...args])
      for (const task of tasks) await assertFits('cli/orch-task.v1', task)
      return tasks
    },
    async agents(): Promise<Agent[]> {
      const {agents} = await json<{agents: Agent[]}>('cli/orch-agents.v1', ['orch', 'agents'])
      for (const agent of agents) await assertFits('cli/orch-agent.v1', agent)
      return agents
    },
    async status(): Promise<StatusReport> {
      const report = await json<StatusReport>('cli/orch-status.v1', ['orch', 'status'])
      for (const agent of report.agents) await assertFits('cli/orch-agent.v1', agent)
      return report
    },
    async events(...args: string[]): Promise<EventRecord[]> {
      const events = jsonLines<EventRecord>(await text(['orch', 'events', '--json', ...args]))
      for (const event of events) await assertFits('orchestration/event.v1', event)
      return events
    },
    /** Submits a task and returns its printed id. */
    submit: async (...args: string[]) => (await text(['orch', 'submit', ...args])).trim(),
    /**
     * Runs a command that must fail: with a message on standard error only, and with a JSON error with `--json`.
     * Returns the message.
     */
    async fails(args: readonly string[], exit: number, code: string, options: SvcOptions = {}): Promise<string> {
      const plain = await run(args, options)
      assert.equal(plain.exitCode, exit, plain.stderr)
      assert.equal(plain.stdout, '')
      assert.doesNotMatch(plain.stderr, /\n {4}at /)
      const {stdout, exitCode} = await run([...args, '--json'], options)
      assert.equal(exitCode, exit, stdout)
      const body = JSON.parse(stdout) as {error: {code: string; message: string; exit: number}}
      await assertFits('cli/error.v1', body)
      assert.deepEqual([body.error.code, body.error.exit], [code, exit])
      assert.ok(plain.stderr.includes(`(${code})`), plain.stderr)
      return body.error.message
    },
    /** Starts a long-running command, which ends with the test at the latest. */
    start(args: readonly string[], options: SvcOptions = {}) {
      const one = startAlone(args, {cwd, ...options})
      test.after(() => {
        one.signal('SIGKILL')
        return one.ended
      })
      return withWaits(one)
    },
    /** The same in a reused process; not for tests of the process itself. */
    startInTurn(args: readonly string[], options: SvcOptions = {}) {
      const one = startInTurn(args, {cwd, ...options})
      going.push(one)
      return withWaits(one)
    },
  }
}

/** A long-running command, with functions that wait for its output. */
const withWaits = (going: Going) => ({
  ...going,
  /** Waits until it has printed a number of lines and returns the last of them. */
  async line(count = going.lines.length + 1): Promise<string> {
    while (going.lines.length < count) await going.told()
    return going.lines[count - 1] as string
  },
  /** Waits until standard error matches a pattern. */
  async says(pattern: RegExp): Promise<void> {
    while (!pattern.test(going.stderr())) await going.told()
  },
  /** Sends it a signal, if any, waits for its end and returns its exit status. */
  async end(name?: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): Promise<number | undefined> {
    if (name !== undefined) going.signal(name)
    return (await going.ended).exitCode
  },
})

export async function assertFits(contract: string, value: unknown): Promise<void> {
  assert.deepEqual(await contractViolations(contract, value), [], JSON.stringify(value))
}

export const jsonLines = <T>(text: string): T[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T)
