import {type Segment, type SpeechModel, sampleRate} from '../model/model.js'
import {joinTexts} from '../text/join-texts.js'
import type {Transcript} from '../transcript/transcript.js'
import {readChunks} from './chunks.js'
import {CombinedAlternatives} from './combine-alternatives.js'
import type {TranscribeEvent, TranscribeOptions} from './options.js'
import {readPassage} from './passage.js'
import type {Recording} from './recording.js'
import {WindowReader} from './window-reader.js'

/**
 * Transcribes a recording as it is read.
 * @param recording at 16 kHz, closed at the end; without a detector, every window is recognised
 * @throws what the stream and the model throw; the reason of the signal
 */
export async function* transcribe(
  model: SpeechModel,
  recording: Recording,
  options: TranscribeOptions,
  signal?: AbortSignal,
): AsyncGenerator<TranscribeEvent, void, undefined> {
  const reader = new WindowReader(model, recording, options, signal)
  const segments: Segment[] = []
  const alternatives = new CombinedAlternatives(options.alternatives)
  let index = 0
  let speechSec = 0
  let warned = 0
  try {
    for await (const window of recognised(model, recording, reader, options)) {
      signal?.throwIfAborted()
      for (const warning of reader.warnings.slice(warned)) yield {type: 'warning', warning}
      warned = reader.warnings.length
      for (const segment of window.segments) yield {type: 'segment', segment}
      segments.push(...window.segments)
      const text = joinTexts(window.segments.map((segment) => segment.text))
      const {startSec, endSec} = window
      yield {type: 'chunk', index: index++, startSec, endSec, text, segments: window.segments}
      yield {type: 'progress', processedSec: window.endSec}
      alternatives.add({text, alternatives: window.alternatives})
      speechSec += window.endSec - window.startSec
    }
    const durationSec = recording.end / sampleRate
    yield {type: 'progress', processedSec: durationSec}
    yield {
      type: 'done',
      transcript: {
        ...languageOf(model, reader, options),
        task: options.task,
        durationSec,
        text: joinTexts(segments.map(({text}) => text)),
        segments,
        alternatives: alternatives.list(),
      },
      speechSec,
      timings: reader.timings,
    }
  } finally {
    await recording.close()
  }
}

function recognised(model: SpeechModel, recording: Recording, reader: WindowReader, options: TranscribeOptions) {
  // Without timestamps and without known pauses, chunks must overlap.
  const {timestamps, windowSec, batch: suitable} = model.description
  const batch = suitable === 0 ? 1 : options.batch || suitable
  const isWhole = batch === 1 && (timestamps || recording.detects)
  const chunkSec = options.chunkSec || (isWhole ? 0 : windowSec)
  if (chunkSec === 0) return readPassage(model, recording, reader, {from: 0, to: Infinity, keep: Infinity})
  return readChunks(model, recording, reader, {chunkSec, overlapSec: options.chunkOverlapSec, batch})
}

/** The language that was heard or requested; without speech, the only one of the model. */
function languageOf(
  {description}: SpeechModel,
  {language: heard}: WindowReader,
  {language: requested}: TranscribeOptions,
): Pick<Transcript, 'language' | 'languageProbability'> {
  if (heard !== undefined) return {language: heard.code, languageProbability: heard.probability}
  const [language, ...others] = requested === undefined ? description.languages : [requested]
  if (language === undefined || others.length > 0) return {language: '', languageProbability: 0}
  return {language, languageProbability: 1}
}
