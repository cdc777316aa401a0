import {writeFile} from 'node:fs/promises'
import {type Program, startProgramFor} from '../../support/program.js'
import {projectFile} from '../../support/project.js'
import {gateFile} from './gate.js'

type After = Parameters<typeof startProgramFor>[0]

/** Starts a program of this folder. */
export const startHelper = (test: After, name: string, ...args: string[]): Program =>
  startProgramFor(test, [projectFile(`dist/test/messages/support/${name}.js`), ...args])

/** Starts several processes of a program, which wait for each other, and returns the output of each as JSON. */
export async function race<T>(
  test: After,
  name: string,
  root: string,
  argumentLists: readonly string[][],
): Promise<T[]> {
  const programs = argumentLists.map((args) => startHelper(test, name, root, ...args))
  await Promise.all(programs.map(({printed}) => printed))
  await writeFile(gateFile(root), '')
  return Promise.all(
    programs.map(async ({exited, lines, stderr}) => {
      const code = await exited
      if (code !== 0) throw new Error(`${name} ended with ${code}: ${stderr()}`)
      return JSON.parse(lines.at(-1) ?? '') as T
    }),
  )
}
