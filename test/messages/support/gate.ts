import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'

/** The file whose appearance lets all processes of a race go. */
export const gateFile = (root: string): string => join(root, 'go')

/** Says that this process is ready, and waits until all may go. */
export async function waitAtGate(root: string): Promise<void> {
  process.stdout.write('ready\n')
  while (!existsSync(gateFile(root))) await sleep(1)
}
