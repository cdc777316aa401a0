/** Runs a command of svc with an injected bug or `none`: `command-with-bug BUG TOPIC COMMAND ARGUMENT...`. */
import {register} from 'node:module'
import {projectFile} from '../../../support/project.js'

const [bug = 'none', topic, command, ...args] = process.argv.slice(2)
if (bug !== 'none') register('./mutation-hooks.js', import.meta.url, {data: bug})
/** What this program needs of a command. */
interface Runnable {
  run(argv: string[], root: string): Promise<unknown>
}

const found = (await import(`../../../../commands/${topic}/${command}.js`)) as {default: Runnable}
await found.default.run(args, projectFile('.'))
