/** Runs a command of svc with an injected bug or `none`: `command-with-bug BUG TOPIC COMMAND ARGUMENT...`. */
import fs from 'node:fs'
import {register, syncBuiltinESMExports} from 'node:module'
import {pathToFileURL} from 'node:url'
import {projectFile} from '../../../support/project.js'
import {type MutationName, mutate} from './mutations.js'

const [bug = 'none', topic, command, ...args] = process.argv.slice(2)
if (bug !== 'none') {
  register('./mutation-hooks.js', import.meta.url, {data: bug})
  mutateSql(bug as MutationName)
}

/** Changes the files of SQL that modules read. */
function mutateSql(name: MutationName): void {
  const {readFileSync} = fs
  const read = (...args: Parameters<typeof readFileSync>) => {
    const [path] = args
    const content = readFileSync(...args)
    const isSql = typeof path === 'string' && path.endsWith('.sql')
    return isSql ? mutate(name, pathToFileURL(path).href, String(content)) : content
  }
  fs.readFileSync = read as typeof readFileSync
  syncBuiltinESMExports()
}

/** What this program needs of a command. */
interface Runnable {
  run(argv: string[], root: string): Promise<unknown>
}

const found = (await import(`../../../../commands/${topic}/${command}.js`)) as {default: Runnable}
await found.default.run(args, projectFile('.'))
