import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'

/** The file whose creation starts all processes of a race. */
export const gateFile = (root: string): string => join(root, 'go')

/** Prints that this process is ready, and waits for the start of the race. */
export async function waitAtGate(root: string): Promise<void> {
  process.stdout.write('ready\n')
  while (!existsSync(gateFile(root))) await sleep(1)
}
