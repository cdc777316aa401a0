import {type SpeechModel, sampleRate} from '../model.js'
import type {PassageWindow} from './options.js'
import type {Recording} from './recording.js'
import type {WindowReader} from './window-reader.js'

/** A part of a recording that is recognised by itself, samples. */
export interface Passage {
  from: number
  /** Not beyond the end of the recording, or Infinity where that is not known. */
  to: number
  /** Sound from here on is still needed afterwards; what lies before may be let go of. */
  keep: number
}

/**
 * Walks through a passage window by window. A model with timestamps says itself where the next window begins; for
 * others each window is a stretch of speech between two pauses.
 */
export function readPassage(
  {description}: SpeechModel,
  recording: Recording,
  reader: WindowReader,
  passage: Passage,
): AsyncGenerator<PassageWindow, void, undefined> {
  const windowLength = Math.floor(description.windowSec * sampleRate)
  if (description.timestamps || !recording.detects) return seekWindows(recording, reader, passage, windowLength)
  return speechWindows(recording, reader, passage, windowLength)
}

async function* seekWindows(recording: Recording, reader: WindowReader, {from, to, keep}: Passage, length: number) {
  for (let seek = from; ; ) {
    await recording.fill(Math.min(seek + length, to))
    const end = Math.min(seek + length, to, recording.end)
    if (end <= seek) return
    recording.release(Math.min(seek, keep))
    if (recording.isSilent(seek, end)) {
      seek = end
      continue
    }
    const {window, next} = await reader.read(seek, withoutSilence(recording, seek, end))
    yield window
    seek = next
  }
}

/** The end of a window without most of the silence after its speech: the text does not depend on how long it lasts. */
function withoutSilence(recording: Recording, from: number, end: number): number {
  const last = recording.speech().findLast((region) => region.start < end && region.end > from)
  const quiet = last === undefined ? end : Math.round(last.end + silenceAfter)
  return quiet < end && recording.isSilent(quiet, end) ? quiet : end
}

/** Sound kept around a stretch of speech, samples: soft beginnings and ends belong to it. */
const margin = 0.05 * sampleRate

/** Silence after a stretch of speech that the model hears too, so that the end of the last word is plain to it, samples. */
const silenceAfter = 0.25 * sampleRate

/** At least this much is read at a time while the end of a stretch is looked for, samples. */
const readStep = sampleRate

async function* speechWindows(recording: Recording, reader: WindowReader, {from, to, keep}: Passage, length: number) {
  for (let at = from; ; ) {
    const region = recording.closedSpeech().find(({start, end}) => end > at && start < to)
    if (region === undefined) {
      if (recording.ended || recording.settled >= to) return
      recording.release(Math.min(recording.settled - length, keep))
      await recording.fill(recording.end + readStep)
      continue
    }
    const start = Math.max(at, from, region.start - margin)
    await recording.fill(region.end + silenceAfter)
    const next = recording.speech().find((later) => later.start >= region.end)?.start ?? Infinity
    const end = Math.min(
      to,
      start + length,
      Math.max(region.end + margin, Math.min(region.end + silenceAfter, next - margin)),
    )
    const {window} = await reader.read(start, end)
    yield window
    // A stretch longer than the window goes on in the next one.
    at = Math.min(end, region.end)
    recording.release(Math.min(at, keep))
  }
}
