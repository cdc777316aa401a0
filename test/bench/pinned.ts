import {spawnSync} from 'node:child_process'

/** Output of a program that is pinned to one core if the system supports it. @throws if it fails */
export function pinnedOutput(command: string, args: readonly string[]): string {
  const [file, ...rest] = process.platform === 'linux' ? ['taskset', '-c', '0', command, ...args] : [command, ...args]
  const {status, signal, stdout, stderr} = spawnSync(file, rest, {encoding: 'utf8', maxBuffer: 64 << 20})
  if (status !== 0) throw new Error(`${command} ended with ${status ?? signal}: ${stderr.slice(-2000)}`)
  return stdout + stderr
}
