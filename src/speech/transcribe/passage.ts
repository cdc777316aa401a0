import {type SpeechModel, type SpeechModelDescription, sampleRate} from '../model/model.js'
import {advanced} from './advanced.js'
import type {PassageWindow} from './options.js'
import type {Recording} from './recording.js'
import type {WindowReader} from './window-reader.js'

/** A part of a recording that is recognised independently. Positions are samples. */
export interface Passage {
  from: number
  /** At most the end of the recording, or Infinity if that is unknown. */
  to: number
  /** Audio from this position on is still needed afterwards; earlier audio may be released. */
  keep: number
}

/**
 * Recognises a passage window by window. A model with timestamps determines the start of the next window; for other
 * models, each window is a speech region between two pauses.
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

/**
 * Returns the first window that `readPassage` reads of a passage with a model with timestamps; undefined if it is silent.
 * The audio of the passage must have been read.
 */
export function firstWindow(
  {windowSec}: SpeechModelDescription,
  recording: Recording,
  {from, to}: Omit<Passage, 'keep'>,
) {
  const end = Math.min(from + Math.floor(windowSec * sampleRate), to, recording.end)
  return end <= from || recording.isSilent(from, end) ? undefined : {from, to: withoutSilence(recording, from, end)}
}

/**
 * Reads a recording up to its first window that is not silent, which determines the language.
 * @returns its audio; undefined if the entire recording is silent
 */
export async function readFirstWindow(
  description: SpeechModelDescription,
  recording: Recording,
): Promise<Float32Array | undefined> {
  const length = Math.floor(description.windowSec * sampleRate)
  for (let from = 0; ; from += length) {
    await recording.fill(from + length)
    recording.release(from)
    const window = firstWindow(description, recording, {from, to: Infinity})
    if (window !== undefined) return recording.slice(window.from, window.to)
    if (recording.ended && recording.end <= from + length) return undefined
  }
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
    seek = advanced(seek, next)
  }
}

/**
 * Returns the end of a window without most of the silence after its speech, so that the text does not depend on the
 * length of the silence.
 */
function withoutSilence(recording: Recording, from: number, end: number): number {
  const last = recording.speech().findLast((region) => region.start < end && region.end > from)
  const quiet = last === undefined ? end : Math.round(last.end + silenceAfter)
  return quiet < end && recording.isSilent(quiet, end) ? quiet : end
}

/** Margin around a speech region, which keeps quiet onsets and endings, samples. */
const margin = 0.05 * sampleRate

/** Silence to include after a speech region, so that the model recognises the end of the last word, samples. */
const silenceAfter = 0.25 * sampleRate

/** Minimum amount of audio to read at a time, samples. */
const readStep = sampleRate

async function* speechWindows(recording: Recording, reader: WindowReader, {from, to, keep}: Passage, length: number) {
  for (let at = from; at < to; ) {
    const region = recording.closedSpeech().find(({start, end}) => end > at && start < to)
    if (region === undefined) {
      if (recording.ended || recording.settled >= to) return
      recording.release(Math.min(recording.settled - length, keep))
      await recording.fill(recording.end + readStep)
      continue
    }
    const start = Math.max(at, from, region.start - margin)
    await recording.fill(region.end + silenceAfter)
    // A region can end behind the recording, because it is extended.
    if (recording.end <= at) return
    const next = recording.speech().find((later) => later.start >= region.end)?.start ?? Infinity
    const end = Math.min(
      to,
      start + length,
      Math.max(region.end + margin, Math.min(region.end + silenceAfter, next - margin)),
    )
    const {window} = await reader.read(start, end)
    yield window
    // A region longer than the window continues in the next one; one that is longer than the passage, in the next passage.
    at = advanced(at, Math.min(end, region.end))
    recording.release(Math.min(at, keep))
  }
}
