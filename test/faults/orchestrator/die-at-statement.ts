/**
 * A daemon of the workspace ROOT that kills itself before the first statement that matches PATTERN, with its values:
 * `die-at-statement ROOT PATTERN`.
 */
import {openDaemon} from './open-daemon.js'

const [root = '', pattern = ''] = process.argv.slice(2)
const fatal = new RegExp(pattern)
const daemon = await openDaemon(root)
const {store} = daemon
const run = store.run.bind(store)
store.run = (...args: Parameters<typeof run>) => {
  if (fatal.test(JSON.stringify(args))) process.kill(process.pid, 'SIGKILL')
  return run(...args)
}
await daemon.run()
