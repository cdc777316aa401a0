import {copyFile, mkdir, symlink, writeFile} from 'node:fs/promises'
import {createRequire} from 'node:module'
import {dirname, join, resolve} from 'node:path'
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
  // A recording of 3 s.
  transcribe: ['transcribe', join(packageRoot, 'examples', 'hello.wav'), '--model', 'starter'],
}

/** The smallest program of the framework that svc uses, as files of a package. */
const bareProgram: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({
    name: 'bare',
    version: '1.0.0',
    type: 'module',
    oclif: {bin: 'bare', commands: './commands'},
  }),
  'bare.js': `import {run} from '@oclif/core'\nawait run(process.argv.slice(2), import.meta.url)\n`,
  'commands/hello.js': `import {Command} from '@oclif/core'\nexport default class extends Command { async run() {} }\n`,
}

/** Writes the smallest program to a folder, and returns its entry file. */
async function writeBareProgram(folder: string): Promise<string> {
  await mkdir(join(folder, 'commands'), {recursive: true})
  for (const [name, text] of Object.entries(bareProgram)) await writeFile(join(folder, name), text)
  const framework = dirname(createRequire(import.meta.url).resolve('@oclif/core/package.json'))
  await mkdir(join(folder, 'node_modules', '@oclif'), {recursive: true})
  await symlink(framework, join(folder, 'node_modules', '@oclif', 'core'), 'junction')
  return join(folder, 'bare.js')
}

export const startup: Benchmark = {
  name: 'startup',
  measures:
    'Time of svc orch tasks and other commands, of svc mcp serve until it is ready, and of a bare oclif program.',
  base: 'node -e 0',
  run: (signal) => measureStartup(signal),
}

export interface StartupRun {
  /** Number of rounds. */
  count?: number | undefined
  /** The compile cache is written by the first round and read by the second. */
  warmUps?: number
  /** Root folder of an earlier build, which is measured in the same rounds. */
  earlier?: string | undefined
}

export const measureStartup = (
  signal: AbortSignal,
  {count = 11, warmUps = 2, earlier}: StartupRun = {},
): Promise<Result> =>
  withFolder(async (cwd) => {
    // Makes the folder a workspace, even if it is in another one.
    await writeFile(join(cwd, 'Svc.toml'), '')
    await copyFile(join(packageRoot, 'examples', 'todo.svc'), join(cwd, 'todo.svc'))
    const builds = Object.entries({'': packageRoot, ...(earlier === undefined ? {} : {earlier_: resolve(earlier)})})
    const bare = await writeBareProgram(join(cwd, 'bare'))
    const options = {cwd, env: withoutSettings(process.env)}
    const bases: number[] = []
    const times: Record<string, number[]> = {}
    for await (const i of rounds(count, {warmUps, signal})) {
      const base = await timeProcess(process.execPath, ['-e', '0'], {...options, signal})
      const taken: Record<string, number> = {
        oclif: await timeProcess(process.execPath, [bare, 'hello'], {...options, signal}),
      }
      for (const [prefix, root] of builds) {
        const svc = join(root, 'bin', 'svc.js')
        for (const [name, args] of Object.entries(commands))
          taken[prefix + name] = await timeProcess(process.execPath, [svc, ...args], {...options, signal})
        taken[`${prefix}mcp_serve`] = await timeStart([svc, 'mcp', 'serve', '--quiet'], options)
      }
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
        ...Object.fromEntries(
          builds.flatMap(([prefix]) =>
            ['orch_tasks', 'mcp_serve'].map((name) => [
              `${prefix}${name}_to_oclif`,
              round(medianRatio(times[prefix + name] ?? [], times.oclif ?? []), 2),
            ]),
          ),
        ),
      },
    }
  })

/**
 * The environment without settings of svc, which could name another store, and without additional certificate authorities:
 * Node.js 20 reads them at every start, which triples the time of `node -e 0`.
 */
const withoutSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SVC_') && name !== 'NODE_EXTRA_CA_CERTS'))
