import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {pinnedOutput} from './pinned.js'
import {writeWhisper} from './whisper-model.js'

/**
 * Cost of the control of recognition. `constraints`: decoding with bias, phrases and forbidden tokens compared with plain
 * decoding, pinned to one core in processor time, for a Whisper model with the shape of tiny and random weights and for the starter
 * model.
 * `CONTROL_ROUNDS` is the number of rounds (15).
 */
export async function speechControl() {
  return {constraints: await constraints()}
}

async function constraints() {
  const rounds = process.env.CONTROL_ROUNDS ?? '15'
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  try {
    const model = await writeWhisper(folder, 'tiny')
    const program = fileURLToPath(new URL('speech-control-run.js', import.meta.url))
    return JSON.parse(pinnedOutput(process.execPath, [program, model.folder, rounds]))
  } finally {
    await rm(folder, {recursive: true})
  }
}
