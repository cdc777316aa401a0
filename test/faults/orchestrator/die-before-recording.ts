/**
 * A daemon of the workspace ROOT that kills itself after the start of its first command, before it stores the process:
 * `die-before-recording ROOT`.
 */
import {openDaemon} from './open-daemon.js'

const [root = ''] = process.argv.slice(2)
const daemon = await openDaemon(root)
const {ai, exec} = daemon.processors
await daemon.run({
  ai,
  exec: {
    run: (task, report, signal) =>
      exec.run(task, {...report, process: () => process.kill(process.pid, 'SIGKILL')}, signal),
  },
})
