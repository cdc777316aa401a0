import type {Orchestrator} from '../../../src/orchestrator/index.js'
import {
  type DaemonOptions,
  type Outcome,
  type Processor,
  type RunReport,
  runDaemon,
} from '../../../src/scheduler/index.js'
import type {Task} from '../../../src/tasks/index.js'

export type Script = (task: Task, report: RunReport, signal: AbortSignal) => Promise<Outcome> | Outcome

export const done = (text = 'done'): Outcome => ({text, details: {}})

/** A processor that does as it is told, and counts how many tasks each agent has at once. */
export class ScriptedProcessor implements Processor {
  /** Ids of the tasks in the order in which they were started. */
  readonly started: number[] = []
  /** Most tasks that one agent has had at once. */
  mostAtOnce = 0
  readonly #script: Script
  readonly #running = new Map<number, number>()

  constructor(script: Script = () => done()) {
    this.#script = script
  }

  async run(task: Task, report: RunReport, signal: AbortSignal): Promise<Outcome> {
    const {agent_id: agent} = task
    const running = (this.#running.get(agent) ?? 0) + 1
    this.#running.set(agent, running)
    this.mostAtOnce = Math.max(this.mostAtOnce, running)
    this.started.push(task.id)
    try {
      return await this.#script(task, report, signal)
    } finally {
      this.#running.set(agent, (this.#running.get(agent) ?? 1) - 1)
    }
  }
}

/** Runs until it is aborted, and ends with what it was aborted with. */
export const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), {once: true})
    if (signal.aborted) reject(signal.reason)
  })

export interface RunningDaemon {
  /** Resolves or rejects when the loop has ended. */
  readonly ended: Promise<void>
  readonly recovered: number
  /** Ends the loop, and waits for it. */
  stop(): Promise<void>
}

/** Starts the loop in this process, and waits until it holds the lease. */
export async function startDaemon(
  test: {after(work: () => Promise<unknown>): void},
  orchestrator: Orchestrator,
  processor: Processor,
  options: Partial<DaemonOptions> = {},
): Promise<RunningDaemon> {
  const controller = new AbortController()
  let recovered = 0
  let ended: Promise<void> = Promise.resolve()
  await new Promise<void>((resolve, reject) => {
    const onReady = (_: unknown, count: number) => {
      recovered = count
      resolve()
    }
    const processors = {ai: processor, exec: processor}
    ended = runDaemon(orchestrator, {processors, signal: controller.signal, onReady, ...options})
    ended.catch(reject)
  })
  const stop = () => {
    controller.abort()
    return ended
  }
  test.after(() => stop().catch(() => undefined))
  return {ended, recovered, stop}
}
