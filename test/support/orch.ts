import assert from 'node:assert/strict'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import type {SubmitTaskV1} from '../../src/contracts/index.js'
import {spawnAgent} from '../../src/orchestrator/index.js'
import {openDatabase} from '../../src/store/index.js'
import {type EventType, failTask, type OrchestratorEvent, submitTask, takeClaim} from '../../src/tasks/index.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask} from '../orchestrator/support/tasks.js'
import {jsonLines, orchWorkspace} from './orch-workspace.js'

/** Output of a command with `--json`: its result or its error. */
export type Reply<T> = Partial<T> & {error?: {code: string; message: string}}

export interface OrchOptions {
  /** `Svc.toml` of the workspace. */
  toml?: string
  env?: Readonly<Record<string, string>>
}

type Told<T extends EventType> = Extract<OrchestratorEvent, {type: T}>

export type Orch = Awaited<ReturnType<typeof orchUnder>>

/** Functions that run commands in a new workspace with the same settings. They change nothing outside the workspace. */
export async function orchUnder(test: TestContext, {toml = '', env: given = {}}: OrchOptions = {}) {
  const {cwd, run, startInTurn} = await orchWorkspace(test, toml)
  const env = {SVC_DATA_DIR: join(cwd, 'data'), ...given}

  /** Starts a daemon and waits until it is ready. */
  const daemon = async (more: Readonly<Record<string, string>> = {}) => {
    const going = startInTurn(['daemon', 'run', '--json', '--drain', '0'], {env: {...env, ...more}})
    let read = 0
    const line = async (): Promise<string> => {
      while (going.lines.length === read) await going.told()
      return going.lines[read++] as string
    }
    assert.equal(JSON.parse(await line()).event, 'ready')
    return {
      /** Waits for the next event of one of these types. */
      async told<T extends EventType>(...types: T[]): Promise<Told<T>> {
        for (;;) {
          const {kind} = JSON.parse(await line()) as {kind: OrchestratorEvent}
          if (types.some((type) => type === kind.type)) return kind as Told<T>
        }
      },
      async stop(): Promise<void> {
        const {exitCode, stderr} = await going.stop()
        assert.equal(exitCode, 0, stderr)
      },
    }
  }

  return {
    cwd,
    /** Runs a command with additional environment variables. */
    run: (args: readonly string[], more: Readonly<Record<string, string>>) => run(args, {env: {...env, ...more}}),
    /** Starts a long-running command. */
    startInTurn: (args: readonly string[], more: Readonly<Record<string, string>>) =>
      startInTurn(args, {env: {...env, ...more}}),
    daemon,
    /** Lets a daemon run its first iteration, which is complete when it is ready. */
    async tick(): Promise<void> {
      const {stop} = await daemon()
      await stop()
    },
    /** Runs `svc orch`. */
    async ask<T extends object>(...args: string[]): Promise<Reply<T>> {
      const {stdout, stderr} = await run(['orch', ...args, '--json'], {env})
      assert.notEqual(stdout, '', stderr)
      return JSON.parse(stdout) as Reply<T>
    },
    /** Events of one type, oldest first. */
    async events<T extends EventType>(type: T): Promise<Told<T>[]> {
      const {stdout} = await run(['orch', 'events', '--type', type, '--json'], {env})
      return jsonLines<{kind: Told<T>}>(stdout).map(({kind}) => kind)
    },
    /** Submits a number of tasks for external clients, which no daemon runs, so that the load stays constant. */
    async load(count: number, task: Partial<SubmitTaskV1> = {}): Promise<void> {
      const one = JSON.stringify({description: 'work', processor: 'external', ...task})
      const {exitCode, stderr} = await run(['orch', 'submit', '--batch', '-'], {env, input: `${one}\n`.repeat(count)})
      assert.equal(exitCode, 0, stderr)
    },
    /** Adds agents in order, each with finished tasks, without the settings under test. */
    async past(agents: Readonly<Record<string, readonly ('completed' | 'failed')[]>>): Promise<void> {
      const orchestrator = await openTestOrchestrator(test, {root: cwd, clock: 'real'})
      for (const name of Object.keys(agents)) spawnAgent(orchestrator, {name})
      for (const [name, ends] of Object.entries(agents))
        for (const end of ends) {
          submitTask(orchestrator, {description: 'work', processor: 'external', target_agent: name})
          const {task, generation} = takeClaim(orchestrator, {owner: 'client'})
          if (end === 'completed') acceptTask(orchestrator, task.id, undefined, {generation})
          else failTask(orchestrator, task.id, 'broken', {generation})
        }
    },
    /** Rows of a query on the store of the workspace. */
    async rows<T>(sql: string): Promise<T[]> {
      const database = await openDatabase(join(cwd, '.svc', 'store.db'), {readonly: true})
      try {
        return database.prepare(sql).all() as T[]
      } finally {
        database.close()
      }
    },
  }
}
