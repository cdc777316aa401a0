import type {SpeechEventV1} from '../../contracts/index.js'
import type {SvcError} from '../../errors/index.js'
import type {LiveCheckpoint, UtteranceSpan} from '../live/live-transcription.js'
import type {SpeechWarning} from '../transcribe/warning.js'
import type {TranscribedFile} from '../transcriber/options.js'

/** What a live session reports, in the form in which clients receive it. */
export type LiveEvent = SpeechEventV1

interface ForClients<Type extends LiveEvent['type']> {
  type: Type
  event: Extract<LiveEvent, {type: Type}>
}

/** A final result with all that is known about it; `file` is undefined if another machine has recognised it. */
export type FinishedUtterance = ForClients<'final'> & {file?: TranscribedFile}

/** What happens in a session, in order. Those with an `event` are for clients, the others for the owner of the session. */
export type SessionEvent =
  | ForClients<'ready'>
  | ForClients<'partial'>
  | ForClients<'heartbeat'>
  | FinishedUtterance
  /** The error of one utterance, or of the session; `error` is undefined if another machine reports it. */
  | (ForClients<'error'> & {error?: SvcError})
  /** The detector found speech in the current utterance; `startMs` is its start in the audio. */
  | {type: 'speech'; startMs: number}
  /** A state from which the session could continue, and the utterance that ended with it. */
  | {type: 'checkpoint'; checkpoint: LiveCheckpoint; ended: UtteranceSpan | undefined}
  /** No audio arrives. */
  | {type: 'idle'; error: SvcError<'speech_capture_timeout'>}
  | {type: 'warning'; warning: SpeechWarning}
  /** A partial result failed; later ones are tried again. */
  | {type: 'draft_failed'; error: unknown}
  /** Audio was lost with the connection to a server, seconds from the start of the session. */
  | {type: 'gap'; fromSec: number; toSec: number}
  /** The connection to a server was lost, or is there again. */
  | {type: 'connection'; isConnected: boolean}
