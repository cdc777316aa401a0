import {basename, resolve} from 'node:path'
import {resolveSettings, speechAudioSettings, speechRefineSettings, speechSettings} from '../config/index.js'
import {ModelHolder, Transcriber, transcriberOptions} from '../speech/index.js'
import {derivedFolder} from '../weights/index.js'

export {SvcError} from '../errors/index.js'
export {
  createFormat,
  type Segment,
  type TranscribedFile,
  type TranscribeHandlers,
  Transcriber,
  type Transcript,
  type TranscriptFormatName,
} from '../speech/index.js'

/** Settings of a transcriber. Defaults are those of `svc transcribe`. */
export interface TranscriberSettings {
  /** Language code or name; detected by default. */
  language?: string
  task?: 'transcribe' | 'translate'
  /** 1 is greedy. */
  beamSize?: number
  wordTimestamps?: boolean
  /** Number of threads; 0 is one per physical core. */
  threads?: number
  device?: 'cpu' | 'cuda'
  /** Clean up the text: spacing, common misrecognitions. Default: true. */
  refine?: boolean
}

/**
 * Opens a speech model, Whisper or CTC, for any number of recordings. The model is loaded for the first recording.
 * Close the transcriber when done.
 * @param model a model directory, or a whisper.cpp file
 * @throws SvcError `transcribe` throws speech_model_unknown, audio_unrecognized and the other speech errors
 *
 * @example
 * const transcriber = openTranscriber('./whisper-tiny', {language: 'en'})
 * const {transcript} = await transcriber.transcribe({path: 'meeting.wav'})
 * console.log(transcript.text)
 * await transcriber.close()
 */
export function openTranscriber(model: string, settings: TranscriberSettings = {}): Transcriber {
  const {refine = true, ...flags} = settings
  const sources = {flags, env: {}}
  const speech = resolveSettings(speechSettings, sources).values
  const audio = resolveSettings(speechAudioSettings, sources).values
  const {threads, device, precision, backend} = speech
  const path = resolve(model)
  return new Transcriber({
    ...transcriberOptions(
      {speech, audio, refine: resolveSettings(speechRefineSettings, sources).values},
      {entries: []},
      [],
    ),
    model: new ModelHolder({
      locate: async () => ({name: basename(path), path}),
      engine: {threads, device, precision, backend, derivedFolder: derivedFolder(process.env)},
    }),
    refine,
  })
}
