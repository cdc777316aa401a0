import {type ChildProcess, fork} from 'node:child_process'
import {once} from 'node:events'
import type {TestContext} from 'node:test'
import type {SubmitTaskV1} from '../../../src/contracts/index.js'
import {projectFile} from '../../support/project.js'
import {timeoutMs} from '../../support/until.js'
import {openClockedWorkspace} from './clocked-workspace.js'
import {workspaceEnv} from './workspace.js'

/** A step of a process with an adjustable clock. */
export type ClockStep =
  | {step: 'clock'; ms: number}
  | {step: 'submit'; submission: SubmitTaskV1}
  | {step: 'claim'; ttlMs: number}
  | {step: 'renew' | 'complete'; id: number; generation: number}
  | {step: 'retry'; id: number}
  | {step: 'daemon'}
  | {step: 'end'}

export interface ClockAnswer {
  id?: number
  generation?: number
  /** Error code. */
  refused?: string
}

/** A user of a workspace with an adjustable clock. */
export interface Clocked {
  /** Sets the offset of the clock, ms. */
  clock(ms: number): Promise<ClockAnswer>
  ask(step: ClockStep): Promise<ClockAnswer>
}

export const hour = 3_600_000

/** Opens the workspace in this process until the test ends. */
export async function clockedHere(test: Pick<TestContext, 'after'>, root: string): Promise<Clocked> {
  const workspace = await openClockedWorkspace(root, {PATH: process.env.PATH, HOME: root, ...workspaceEnv})
  test.after(() => workspace.close())
  return {ask: workspace.take, clock: (ms) => workspace.take({step: 'clock', ms})}
}

/** Opens the workspace in a child process until the test ends. Steps run sequentially. */
export async function clockedProcess(test: Pick<TestContext, 'after'>, root: string): Promise<Clocked> {
  const child: ChildProcess = fork(projectFile('dist/test/faults/orchestrator/clocked.js'), [root], {
    cwd: root,
    env: {PATH: process.env.PATH, HOME: root, ...workspaceEnv},
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  test.after(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const answer = async () => (await once(child, 'message', {signal: AbortSignal.timeout(timeoutMs)}))[0] as ClockAnswer
  await answer()
  const ask = (step: ClockStep) => {
    const answered = answer()
    child.send(step)
    return answered
  }
  return {ask, clock: (ms) => ask({step: 'clock', ms})}
}
