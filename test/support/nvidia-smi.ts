import {chmod} from 'node:fs/promises'
import {delimiter, join} from 'node:path'
import type {TestContext} from 'node:test'
import {temporaryFolder, writeFiles} from './temporary.js'

/** A `PATH` with a shell script as `nvidia-smi`. */
export async function pathWithNvidiaSmi(test: TestContext, script: string): Promise<string> {
  const folder = await temporaryFolder(test)
  await writeFiles(folder, {'nvidia-smi': `#!/bin/sh\n${script}\n`})
  await chmod(join(folder, 'nvidia-smi'), 0o755)
  return `${folder}${delimiter}${process.env.PATH}`
}

const query = '--query-gpu=memory.total,compute_mode,driver_version --format=csv,noheader,nounits'

/** Script that prints GPUs, such as `8192, Default, 550.54.15`, in answer to the query of svc. */
export const gpuList = (...gpus: readonly string[]): string =>
  `[ "$*" = "${query}" ] && printf '${gpus.join('\\n')}\\n'`
