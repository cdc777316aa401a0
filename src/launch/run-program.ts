import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {constants, tmpdir} from 'node:os'
import {join} from 'node:path'
import {keyVariable, type ProgramSettings} from './settings.js'

export interface ProgramRun {
  path: string
  settings: ProgramSettings
  /** Arguments of the user, after those of the settings. */
  args: readonly string[]
  env: Readonly<Record<string, string | undefined>>
  apiKey: string
  /** Passes on the signals that this process receives, until the returned function is called. */
  forwardSignals(send: (signal: NodeJS.Signals) => void): () => void
}

/**
 * Runs a program on the standard streams of this process.
 * @returns its exit status; 128 and the number of the signal that ended it, as shells do
 */
export async function runProgram(run: ProgramRun): Promise<number> {
  const {file} = run.settings
  if (file === undefined) return runWith(run, [])
  const folder = await mkdtemp(join(tmpdir(), 'svc-launch-'))
  try {
    const path = join(folder, file.name)
    await writeFile(path, file.text)
    return await runWith(run, [path])
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}

async function runWith({path, settings, args, env, apiKey, forwardSignals}: ProgramRun, file: readonly string[]) {
  const {execa} = await import('execa')
  const {unset, keys} = settings
  const kept = Object.entries(env).filter(([name]) => !unset.includes(name))
  const secret = Object.fromEntries([keyVariable, ...keys].map((name) => [name, apiKey]))
  const child = execa(path, [...settings.args, ...file, ...args], {
    env: {...Object.fromEntries(kept), ...settings.env, ...secret},
    extendEnv: false,
    stdio: 'inherit',
    reject: false,
    // The program decides what a signal does.
    cleanup: false,
    forceKillAfterDelay: false,
  })
  const stopForwarding = forwardSignals((signal) => child.kill(signal))
  try {
    const {exitCode, signal, cause} = await child
    if (child.pid === undefined) throw cause
    return exitCode ?? 128 + (signal === undefined ? 0 : constants.signals[signal as NodeJS.Signals])
  } finally {
    stopForwarding()
  }
}
