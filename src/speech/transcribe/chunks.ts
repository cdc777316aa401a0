import {type SpeechModel, sampleRate} from '../model.js'
import {mergeOverlap} from '../text/merge-overlap.js'
import type {PassageWindow} from './options.js'
import {readPassage} from './passage.js'
import {planChunk} from './plan-chunk.js'
import type {Recording} from './recording.js'
import type {WindowReader} from './window-reader.js'

/** Maximum window of the models, seconds. */
const longestSec = 30

/**
 * Recognises a recording in independent chunks. Text in the overlap of two chunks is assigned to one of them, so each
 * chunk is returned after the next one was recognised.
 */
export async function* readChunks(
  model: SpeechModel,
  recording: Recording,
  reader: WindowReader,
  {chunkSec, overlapSec}: {chunkSec: number; overlapSec: number},
): AsyncGenerator<PassageWindow, void, undefined> {
  const size = {
    chunk: Math.round(chunkSec * sampleRate),
    overlap: Math.round(overlapSec * sampleRate),
    longest: Math.max(chunkSec, longestSec) * sampleRate,
  }
  let before: PassageWindow | undefined
  for (let from: number | undefined = 0; from !== undefined; ) {
    await recording.fill(from + Math.ceil(1.25 * size.chunk))
    const end = recording.ended ? recording.end : undefined
    const plan = planChunk(from, size, end, recording.detects ? recording.speech() : undefined)
    if (plan.to <= from) break
    reader.forget()
    const chunk = await readChunk(model, recording, reader, {from, to: plan.to, keep: plan.next ?? plan.to})
    const joined = before === undefined ? undefined : join(before, chunk)
    if (joined !== undefined) yield joined.left
    before = joined?.right ?? chunk
    from = plan.next
  }
  if (before !== undefined) yield before
}

async function readChunk(
  model: SpeechModel,
  recording: Recording,
  reader: WindowReader,
  passage: {from: number; to: number; keep: number},
): Promise<PassageWindow> {
  const windows: PassageWindow[] = []
  for await (const window of readPassage(model, recording, reader, passage)) windows.push(window)
  return {
    startSec: passage.from / sampleRate,
    endSec: Math.min(passage.to, recording.end) / sampleRate,
    segments: windows.flatMap(({segments}) => segments),
    alternatives: windows.length === 1 ? (windows[0] as PassageWindow).alternatives : [],
  }
}

/** Removes duplicate text from two adjacent chunks. */
function join(left: PassageWindow, right: PassageWindow): {left: PassageWindow; right: PassageWindow} {
  if (left.endSec <= right.startSec) return {left, right}
  const merged = mergeOverlap(left.segments, right.segments, {startSec: right.startSec, endSec: left.endSec})
  return {left: {...left, segments: merged.left}, right: {...right, segments: merged.right}}
}
