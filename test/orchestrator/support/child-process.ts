import {execFile} from 'node:child_process'
import {promisify} from 'node:util'
import {projectFile} from '../../support/project.js'

const execute = promisify(execFile)

/** Runs a program of this folder in a child process and returns its standard output. */
export async function runProgram(name: string, ...args: string[]): Promise<string> {
  const {stdout} = await execute(
    process.execPath,
    [projectFile(`dist/test/orchestrator/support/${name}.js`), ...args],
    {
      timeout: 60_000,
    },
  )
  return stdout
}
