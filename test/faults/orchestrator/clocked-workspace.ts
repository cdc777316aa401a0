import {join} from 'node:path'
import {readConfigFile} from '../../../src/config/index.js'
import {SvcError} from '../../../src/errors/index.js'
import {resolveEndpoint} from '../../../src/inference-client/index.js'
import {openOrchestrator} from '../../../src/orchestrator/index.js'
import {localProcessors, runDaemon} from '../../../src/scheduler/index.js'
import {renewClaim, retryTask, submitTask, takeClaim} from '../../../src/tasks/index.js'
import {acceptTask} from '../../orchestrator/support/tasks.js'
import type {ClockAnswer, ClockStep} from './clock-steps.js'

/** An open workspace with an adjustable clock. */
export interface ClockedWorkspace {
  take(step: ClockStep): Promise<ClockAnswer>
  /** Stops the daemon, if any, and closes the store. */
  close(): Promise<void>
}

export async function openClockedWorkspace(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ClockedWorkspace> {
  /** Offset of the clock, ms. */
  let offsetMs = 0
  const sources = {env, file: await readConfigFile(join(root, 'Svc.toml'))}
  const orchestrator = await openOrchestrator({root, sources, now: () => Date.now() + offsetMs})
  const stop = new AbortController()
  let daemon: Promise<void> | undefined

  const steps: {[S in ClockStep as S['step']]: (step: S) => ClockAnswer | Promise<ClockAnswer>} = {
    clock: ({ms}) => {
      offsetMs = ms
      return {}
    },
    submit: ({submission}) => ({id: submitTask(orchestrator, submission).task_id}),
    claim: ({ttlMs}) => {
      const {task, generation} = takeClaim(orchestrator, {owner: 'client', ttlMs})
      return {id: task.id, generation}
    },
    renew: ({id, generation}) => {
      renewClaim(orchestrator, id, {generation})
      return {}
    },
    complete: ({id, generation}) => {
      acceptTask(orchestrator, id, {text: 'done'}, {generation})
      return {}
    },
    retry: ({id}) => {
      retryTask(orchestrator, id)
      return {}
    },
    daemon: () =>
      new Promise((resolve, reject) => {
        const {endpoint} = resolveEndpoint(sources)
        daemon = runDaemon(orchestrator, {
          processors: localProcessors(orchestrator, {endpoint, env}),
          signal: stop.signal,
          onReady: () => resolve({}),
        })
        daemon.catch(reject)
      }),
    end: async () => {
      stop.abort()
      await daemon
      return {}
    },
  }

  return {
    async take(step) {
      try {
        return await steps[step.step](step as never)
      } catch (error) {
        return {refused: SvcError.from(error).code}
      }
    },
    async close() {
      stop.abort()
      await daemon?.catch(() => undefined)
      orchestrator.close()
    },
  }
}
