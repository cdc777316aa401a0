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

/** A processor that runs a script, and counts the concurrent tasks of each agent. */
export class ScriptedProcessor implements Processor {
  /** Ids of the tasks in start order. */
  readonly started: number[] = []
  /** Maximum number of concurrent tasks of one agent. */
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

/** Rejects with the abort reason once the signal is aborted. */
export const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), {once: true})
    if (signal.aborted) reject(signal.reason)
  })

export interface RunningDaemon {
  /** Settles when the loop has ended. */
  readonly ended: Promise<void>
  readonly recovered: number
  /** Stops the loop and waits for its end. */
  stop(): Promise<void>
}

/** Starts the daemon loop in this process and waits until it holds the lease. */
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
