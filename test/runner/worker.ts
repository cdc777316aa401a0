/**
 * Runs test files from a queue that all workers of a run share, in one process. Starting a process and loading the
 * modules of the project for each file would take longer than most files. Each file is a suite of its own, so that its
 * hooks run when it ends.
 */
import {readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {after, describe} from 'node:test'
import {pathToFileURL} from 'node:url'
import {forgetSecrets} from '../../src/log/redact.js'
import {endIdleProcesses} from '../support/svc-in-turn.js'
import {useBundledThreads} from './bundled-threads.js'
import {processorTime} from './processor-time.js'

export interface Queue {
  /** Files in the order in which they start: absolute path, and title of the suite. */
  files: readonly {title: string; path: string}[]
  /** Limit for a file that hangs, ms. */
  timeout: number
}

/** Name of the file in the folder of a queue that marks the file at an index as taken. It contains the name of the worker. */
export const markOf = (folder: string, index: number): string => join(folder, `taken-${index}`)

/** Name of the file in the folder of a queue with the processor time of the file at an index, s. */
export const timeFileOf = (folder: string, index: number): string => join(folder, `time-${index}`)

/** Takes files from a queue until it is empty. @param folder of the queue, which contains a `Queue` as `queue.json` */
export async function runQueue(folder: string, worker: string): Promise<void> {
  useBundledThreads()
  const {files, timeout}: Queue = JSON.parse(readFileSync(join(folder, 'queue.json'), 'utf8'))
  for (const [i, {title, path}] of files.entries())
    if (take(markOf(folder, i), worker)) await runFile(title, path, {timeout, timeFile: timeFileOf(folder, i)})
  // Waits for them, so that their processor time counts as that of this process.
  await endIdleProcesses()
}

/** Runs a file. Resolves when its tests and hooks have ended, and undoes what they left behind in this process. */
async function runFile(
  title: string,
  path: string,
  {timeout, timeFile}: {timeout: number; timeFile: string},
): Promise<void> {
  const before = processorTime()
  const env = {...process.env}
  await new Promise<void>((ended) => {
    describe(title, {timeout}, async () => {
      try {
        await import(pathToFileURL(path).href)
      } finally {
        // Hooks run in the order of their registration, so this is the last one.
        after(() => {
          const now = processorTime()
          if (now !== undefined) writeFileSync(timeFile, String(now - (before ?? 0)))
          ended()
        })
      }
    })
  })
  forgetSecrets()
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
}

/** True for one worker only, because a file can be created once. */
function take(mark: string, worker: string): boolean {
  try {
    writeFileSync(mark, worker, {flag: 'wx'})
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
