import {copyFile, mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {projectFile} from '../support/project.js'
import {timeStart} from './mcp-start.js'
import {median, round, timeProcess} from './measure.js'

const rounds = 11
/** The compile cache is written by the first round and read by the second. */
const warmUps = 2

const commands: Readonly<Record<string, readonly string[]>> = {
  '--version': ['--version'],
  '--help': ['--help'],
  'config show': ['config', 'show'],
  'orch tasks': ['orch', 'tasks'],
  'db check': ['db', 'check', 'todo.svc'],
}

/**
 * Wall time of commands, and of `mcp serve` until its response to `initialize`, each relative to `node -e 0` in the
 * same round, so that changes in the speed of the machine cancel out.
 */
export async function startup() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  try {
    await copyFile(projectFile('examples/todo.svc'), join(folder, 'todo.svc'))
    const svc = projectFile('bin/svc.js')
    const bases: number[] = []
    const ratios: Record<string, number[]> = {}
    for (let i = -warmUps; i < rounds; i++) {
      const base = timeProcess(process.execPath, ['-e', '0'])
      const times: [string, number][] = []
      for (const [name, args] of Object.entries(commands))
        times.push([name, timeProcess(process.execPath, [svc, ...args], folder)])
      times.push(['mcp serve until ready', await timeStart([svc, 'mcp', 'serve', '--quiet'], folder)])
      if (i < 0) continue
      bases.push(base)
      for (const [name, time] of times) {
        ratios[name] ??= []
        ratios[name].push(time / base)
      }
    }
    const medians = Object.entries(ratios).map(([name, values]) => [name, round(median(values), 2)])
    return {against: 'node -e 0', node: process.version, base_ms: round(median(bases)), ...Object.fromEntries(medians)}
  } finally {
    await rm(folder, {recursive: true})
  }
}
