import {type SpeechModel, sampleRate} from '../model/model.js'
import {mergeOverlap} from '../text/merge-overlap.js'
import {advanced} from './advanced.js'
import type {PassageWindow} from './options.js'
import {firstWindow, readPassage} from './passage.js'
import {type ChunkPlan, type ChunkSize, planChunk} from './plan-chunk.js'
import type {Recording} from './recording.js'
import type {WindowReader} from './window-reader.js'

/** Maximum window of the models, seconds. */
const maxSec = 30

/**
 * Recognises a recording in independent chunks. Text in the overlap of two chunks is assigned to one of them, so each
 * chunk is returned after the next one was recognised.
 */
export async function* readChunks(
  model: SpeechModel,
  recording: Recording,
  reader: WindowReader,
  {chunkSec, overlapSec, batch}: {chunkSec: number; overlapSec: number; batch: number},
): AsyncGenerator<PassageWindow, void, undefined> {
  const size = {
    chunk: Math.round(chunkSec * sampleRate),
    overlap: Math.round(overlapSec * sampleRate),
    maxLength: Math.max(chunkSec, maxSec) * sampleRate,
  }
  let before: PassageWindow | undefined
  for (let from: number | undefined = 0; from !== undefined; ) {
    const plans = await planChunks(recording, from, size, batch)
    if (batch > 1) await reader.prepare(plans.flatMap((plan) => firstWindow(model.description, recording, plan) ?? []))
    for (const plan of plans) {
      reader.forget()
      const keep = plan.next ?? plan.to
      const chunk = await readChunk(model, recording, reader, {...plan, keep})
      const joined = before === undefined ? undefined : join(before, chunk)
      if (joined !== undefined) yield joined.left
      before = joined?.right ?? chunk
    }
    from = plans.at(-1)?.next
  }
  if (before !== undefined) yield before
}

/** Plans up to `count` chunks, and reads their audio. */
async function planChunks(recording: Recording, first: number, size: ChunkSize, count: number) {
  const plans: (ChunkPlan & {from: number})[] = []
  for (let from: number | undefined = first; from !== undefined && plans.length < count; ) {
    await recording.fill(from + Math.ceil(1.25 * size.chunk))
    const end = recording.ended ? recording.end : undefined
    const plan = planChunk(from, size, end, recording.detects ? recording.speech() : undefined)
    if (plan.to <= from) break
    plans.push({from, ...plan})
    from = plan.next === undefined ? undefined : advanced(from, plan.next)
  }
  return plans
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
