/**
 * The orchestrator of the workspace ROOT in a process with an adjustable clock: `clocked ROOT`. Each IPC message from
 * the parent is a step; the reply is its result.
 */

import type {ClockAnswer, ClockStep} from './clock-steps.js'
import {openClockedWorkspace} from './clocked-workspace.js'

const [root = ''] = process.argv.slice(2)
const workspace = await openClockedWorkspace(root, process.env)

process.on('message', async (step: ClockStep) => {
  process.send?.(await workspace.take(step))
  if (step.step === 'end') process.disconnect()
})
process.on('disconnect', async () => {
  await workspace.close()
  process.exit()
})
process.send?.({} satisfies ClockAnswer)
