/** Runs the daemon of a workspace with an injected bug or `none`: `daemon-with-bug BUG ARGUMENT...`. */
import {register} from 'node:module'
import {projectFile} from '../../../support/project.js'

const [bug = 'none', ...args] = process.argv.slice(2)
if (bug !== 'none') register('./mutation-hooks.js', import.meta.url, {data: bug})
const {default: DaemonRun} = await import('../../../../commands/daemon/run.js')
await DaemonRun.run(args, projectFile('.'))
