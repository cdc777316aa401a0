import {readFileSync} from 'node:fs'

export const skipWithoutProc = process.platform === 'linux' ? false : 'needs /proc'

/** Resident memory of a process, MiB. */
export const residentMemory = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
