/**
 * The orchestrator of the workspace ROOT in a process whose clock is wrong, and jumps: `clocked ROOT`, over a channel to
 * its parent. Each message is a step; its answer says what came of it.
 */
import {join} from 'node:path'
import {readConfigFile} from '../../../src/config/index.js'
import {SvcError} from '../../../src/errors/index.js'
import {resolveEndpoint} from '../../../src/inference/index.js'
import {
  claimTask,
  completeTask,
  localProcessors,
  openOrchestrator,
  renewClaim,
  retryTask,
  runDaemon,
  submitTask,
} from '../../../src/orchestrator/index.js'
import type {ClockAnswer, ClockStep} from './clock-steps.js'

const [root = ''] = process.argv.slice(2)
/** How far the clock is off, ms. */
let offMs = 0
const sources = {env: process.env, file: await readConfigFile(join(root, 'Svc.toml'))}
const orchestrator = await openOrchestrator({root, sources, now: () => Date.now() + offMs})
const stop = new AbortController()
let daemon: Promise<void> | undefined

const steps: {[S in ClockStep as S['step']]: (step: S) => ClockAnswer | Promise<ClockAnswer>} = {
  clock: ({ms}) => {
    offMs = ms
    return {}
  },
  submit: ({submission}) => ({id: submitTask(orchestrator, submission).task_id}),
  claim: ({ttlMs}) => {
    const {task, generation} = claimTask(orchestrator, {owner: 'client', ttlMs})
    return {id: task.id, generation}
  },
  renew: ({id, generation}) => {
    renewClaim(orchestrator, id, {generation})
    return {}
  },
  complete: ({id, generation}) => {
    completeTask(orchestrator, id, {text: 'done'}, {generation})
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
        processors: localProcessors(orchestrator, {endpoint, env: process.env}),
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

process.on('message', async (step: ClockStep) => {
  try {
    process.send?.(await steps[step.step](step as never))
  } catch (error) {
    process.send?.({refused: SvcError.from(error).code} satisfies ClockAnswer)
  }
  if (step.step === 'end') process.disconnect()
})
process.on('disconnect', () => {
  orchestrator.close()
  process.exit()
})
process.send?.({} satisfies ClockAnswer)
