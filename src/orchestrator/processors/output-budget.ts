import type {Readable} from 'node:stream'

/** What a program wrote into one pipe. */
export interface Recording {
  /** What fitted into the budget, with a mark at its end where more came. */
  text(): string
  /** The last lines that say something, also of what did not fit. */
  lastLines(count: number): string[]
}

/** A number of bytes that several pipes share. */
export interface OutputBudget {
  /** Reads a pipe to its end: what does not fit any more is counted and dropped, so that nobody waits for a reader. */
  record(pipe: Readable): Recording
  /** Whether something was dropped. */
  readonly exceeded: boolean
}

const tailBytes = 4096
const mostLineCharacters = 300

export function outputBudget(limit: number): OutputBudget {
  let left = limit
  let exceeded = false
  return {
    get exceeded() {
      return exceeded
    },
    record(pipe) {
      const kept: Buffer[] = []
      let dropped = 0
      let tail: Buffer = Buffer.alloc(0)
      pipe.on('data', (piece: Buffer) => {
        const part = piece.subarray(0, left)
        left -= part.length
        dropped += piece.length - part.length
        exceeded ||= dropped > 0
        if (part.length > 0) kept.push(part)
        tail = Buffer.from(Buffer.concat([tail, piece]).subarray(-tailBytes))
      })
      // A pipe that breaks has ended: what came so far is what there is.
      pipe.on('error', () => undefined)
      return {
        text: () => decode(kept, dropped),
        lastLines: (count) =>
          tail
            .toString('utf8')
            .split(/\r?\n/)
            .map((line) => line.trim())
            .filter((line) => line !== '')
            .slice(-count)
            .map((line) => line.slice(0, mostLineCharacters)),
      }
    },
  }
}

/** A character that the limit cut in two is left out. */
function decode(kept: readonly Buffer[], dropped: number): string {
  const text = new TextDecoder().decode(Buffer.concat(kept), {stream: dropped > 0})
  return dropped === 0 ? text : `${text}\n[${dropped} more bytes were left out]`
}
