import {appendFile, mkdir} from 'node:fs/promises'
import {dirname} from 'node:path'
import type {TranscribeEvent} from './transcribe/options.js'

type Chunk = Extract<TranscribeEvent, {type: 'chunk'}>

export interface PartialWriter {
  start(durationSec: number | undefined): void
  write(chunk: Chunk): Promise<void>
}

/** Appends a JSON line per chunk to a file, for progress displays; write errors are ignored. */
export function partialWriter(
  path: string,
  {sessionId, chunkSec}: {sessionId: string; chunkSec: number},
): PartialWriter {
  let expected = 1
  return {
    start(durationSec) {
      if (durationSec !== undefined) expected = Math.ceil(durationSec / (chunkSec || windowSec))
    },
    async write({index, startSec, endSec, text}) {
      const line = {
        session_id: sessionId,
        chunk_index: index,
        // Chunks end in pauses, so that their number is known only at the end.
        total_chunks: Math.max(index + 1, expected),
        partial_text: text.trim(),
        start_ms: Math.round(1000 * startSec),
        end_ms: Math.round(1000 * endSec),
        ts_ms: Date.now(),
      }
      await mkdir(dirname(path), {recursive: true}).catch(() => undefined)
      await appendFile(path, `${JSON.stringify(line)}\n`).catch(() => undefined)
    },
  }
}

/** A model that is not told how long chunks are moves on by about this much, seconds. */
const windowSec = 30
