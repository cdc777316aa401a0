import type {AudioStream, Excerpt, NeuralVadOptions, PreprocessMode, TrackChoice, TrackList} from '../../audio/index.js'
import type {ModelHolder} from '../engine/model-holder.js'
import type {LiveOptions, LiveSettings} from '../live/live-transcription.js'
import type {Segment, SpeechModelDescription} from '../model/model.js'
import type {FinishContext, FinishedText} from '../text/finish.js'
import type {LanguageDiagnostics} from '../text/language-hint.js'
import type {TranscribeEvent, TranscribeOptions, TranscribeTimings} from '../transcribe/options.js'
import type {ProgressFile} from '../transcribe/progress-file.js'
import type {SpeechWarning} from '../transcribe/warning.js'
import type {Transcript} from '../transcript/transcript.js'

/** Voice activity detector. */
export type VadChoice =
  | {kind: 'none'}
  | ({kind: 'energy'} & RegionLimits)
  | ({kind: 'neural'; model: string} & RegionLimits)

type RegionLimits = Required<Pick<NeuralVadOptions, 'threshold' | 'mergeGapMs' | 'minSpeechMs' | 'maxRegionSec'>>

export interface TranscriberOptions {
  model: ModelHolder
  /** `language` is a code or a name. */
  decoding: Omit<TranscribeOptions, 'preprocess' | 'preferred'>
  /** Computes word timestamps if the model supports them, even if `decoding` does not request them. */
  prefersWords?: boolean | undefined
  /** Mixes the channels, transcribes each one with its own speaker, or only the one with this number, from 1. */
  channels?: 'mix' | 'split' | number
  /** Names of the speakers of split channels. */
  speakers?: readonly string[]
  preprocess: {mode: PreprocessMode; budgetMs: number; rmsTargetDbfs: number}
  vad: VadChoice
  /** Recognises short recordings of several calls at the same time. */
  together?: boolean | undefined
  /** Refines segments and text. */
  refine: boolean
  text: Omit<FinishContext, 'language'>
}

/** Callbacks and options of one transcription. */
export interface TranscribeHandlers {
  signal?: AbortSignal | undefined
  /** Language of this recording; overrides that of the transcriber. */
  language?: string | undefined
  /** Keeps the finished windows of a recording file, so that a later run can resume. The caller removes the file. */
  progress?: ProgressFile | undefined
  /** The audio track to transcribe. */
  track?: TrackChoice | undefined
  /** Called when the audio tracks of the recording are known. */
  onTracks?: ((list: TrackList) => void) | undefined
  /** The part to transcribe; times are still relative to the start of the recording. */
  excerpt?: Excerpt | undefined
  onWarning?: ((warning: SpeechWarning) => void) | undefined
  /** Called when the model is loaded and recognition starts. */
  onReady?: (() => void) | undefined
  /** Wraps the audio stream, for instance to limit the time to read it. */
  watch?: ((audio: AudioStream) => AudioStream) | undefined
  /** Called with the duration of the recording in seconds, if it is known. */
  onStart?: ((durationSec: number | undefined) => void) | undefined
  onSegment?: ((segment: Segment) => void | Promise<void>) | undefined
  onProgress?: ((processedSec: number) => void) | undefined
  onChunk?: ((chunk: Extract<TranscribeEvent, {type: 'chunk'}>) => void | Promise<void>) | undefined
}

/** Options of a live transcription. */
export interface LiveTranscriberOptions
  extends Pick<TranscribeHandlers, 'language' | 'signal'>,
    LiveSettings,
    Pick<LiveOptions<TranscribedFile>, 'endpoint' | 'now' | 'from'> {}

/** Result of a transcription. */
export interface TranscribedFile {
  /** The transcript, refined unless refinement is off. */
  transcript: Transcript
  finished: FinishedText
  /** Mean token probability, 0 to 1; undefined without recognised text. */
  asrConfidence: number | undefined
  languageDiagnostics: LanguageDiagnostics | undefined
  /** Details of the recording; undefined for a text file. */
  recording:
    | {
        model: string
        family: SpeechModelDescription['family']
        /** Milliseconds; `loadMs` is 0 unless this call loaded the model. */
        timings: TranscribeTimings & {totalMs: number; loadMs: number}
        /** Duration of the audio that the model processed, seconds. */
        speechSec: number
        warnings: readonly SpeechWarning[]
        /** Audio tracks; undefined if the format has only one. */
        tracks: TrackList | undefined
      }
    | undefined
}
