import {copyFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {packageRoot} from '../files/index.js'
import type {Benchmark, Result} from './benchmark.js'
import {timeStart} from './mcp-client.js'
import {median, medianRatio, round, rounds, timeProcess} from './measure.js'
import {withFolder} from './temporary.js'

const commands: Readonly<Record<string, readonly string[]>> = {
  version: ['--version'],
  help: ['--help'],
  config_show: ['config', 'show'],
  db_check: ['db', 'check', 'todo.svc'],
  orch_tasks: ['orch', 'tasks'],
}

export const startup: Benchmark = {
  name: 'startup',
  measures: 'Time of svc orch tasks and other commands, and of svc mcp serve until it is ready.',
  base: 'node -e 0',
  run: (signal) => measureStartup(signal),
}

/** @param warmUps the compile cache is written by the first round and read by the second */
export const measureStartup = (
  signal: AbortSignal,
  {count = 11, warmUps = 2}: {count?: number; warmUps?: number} = {},
): Promise<Result> =>
  withFolder(async (cwd) => {
    // Makes the folder a workspace, even if it is in another one.
    await writeFile(join(cwd, 'Svc.toml'), '')
    await copyFile(join(packageRoot, 'examples', 'todo.svc'), join(cwd, 'todo.svc'))
    const svc = join(packageRoot, 'bin', 'svc.js')
    const options = {cwd, env: withoutSettings(process.env)}
    const bases: number[] = []
    const times: Record<string, number[]> = {}
    for await (const i of rounds(count, {warmUps, signal})) {
      const base = await timeProcess(process.execPath, ['-e', '0'], {...options, signal})
      const taken: Record<string, number> = {}
      for (const [name, args] of Object.entries(commands))
        taken[name] = await timeProcess(process.execPath, [svc, ...args], {...options, signal})
      taken.mcp_serve = await timeStart([svc, 'mcp', 'serve', '--quiet'], options)
      if (i < 0) continue
      bases.push(base)
      for (const [name, ms] of Object.entries(taken)) times[name] = [...(times[name] ?? []), ms]
    }
    const ratios = Object.entries(times).map(([name, all]) => [name, round(medianRatio(all, bases), 2)] as const)
    const {orch_tasks: ratio = 0} = Object.fromEntries(ratios)
    return {
      ratio,
      figures: {
        base_ms: round(median(bases)),
        ...Object.fromEntries(ratios.map(([name, one]) => [`${name}_ratio`, one])),
      },
    }
  })

/** The environment without settings of svc, which could name another store. */
const withoutSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SVC_')))
