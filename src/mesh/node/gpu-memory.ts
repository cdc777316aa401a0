import {execFile} from 'node:child_process'
import {meshSettings, resolveSettings, type SettingSources} from '../../config/index.js'

/** Maximum duration of the query, ms. */
const timeoutMs = 2000

/** Result of the query in this process, MiB. */
let known: number | undefined

/** Memory of the largest GPU if this process has queried it, MiB. */
export const knownGpuMemory = (): number | undefined => known

/** Queries the memory of the largest GPU; agents created later offer it if their configuration does not set it. */
export async function probeGpuMemory(sources: SettingSources): Promise<void> {
  known = await readGpuMemory(sources)
}

/**
 * Memory of the largest GPU as reported by `nvidia-smi`, MiB. Undefined if the query is switched off, fails or takes too
 * long. Only long-running commands query it, because it can take a second.
 */
function readGpuMemory(sources: SettingSources): Promise<number | undefined> {
  if (resolveSettings(meshSettings, sources).values.gpuProbeOff) return Promise.resolve(undefined)
  const args = ['--query-gpu=memory.total', '--format=csv,noheader,nounits']
  const env = {...process.env, ...sources.env}
  return new Promise((resolve) => {
    execFile('nvidia-smi', args, {timeout: timeoutMs, killSignal: 'SIGKILL', env, windowsHide: true}, (error, text) =>
      resolve(error === null ? largestMemory(text) : undefined),
    )
  })
}

/** The largest number of a list with one GPU per line; `[N/A]` counts as none. */
function largestMemory(text: string): number | undefined {
  const sizes = text
    .split('\n')
    .map((line) => Number(line.trim()))
    .filter((size) => Number.isSafeInteger(size) && size > 0)
  return sizes.length === 0 ? undefined : Math.max(...sizes)
}
