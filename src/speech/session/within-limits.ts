import type {AudioInput} from '../../audio/index.js'
import type {TranscribedFile, TranscribeHandlers} from '../transcriber/options.js'
import type {Transcriber} from '../transcriber/transcriber.js'
import {type DeadlineDiagnostic, type SessionLimits, SpeechSession} from './session.js'
import {timeLimited} from './time-limited.js'

/**
 * Transcribes a recording within time limits.
 * @throws speech_capture_timeout, speech_inference_timeout, speech_deadline_exceeded; what `Transcriber.transcribe` throws
 */
export async function transcribeWithin(
  limits: SessionLimits,
  transcriber: Transcriber,
  input: AudioInput,
  {signal, ...handlers}: TranscribeHandlers,
): Promise<{file: TranscribedFile; diagnostics: DeadlineDiagnostic[]}> {
  const session = new SpeechSession(limits)
  const {value: file, diagnostics} = await session.finalize(
    (within, onReady) =>
      transcriber.transcribe(input, {
        ...handlers,
        signal: within,
        onReady,
        watch: (audio) => timeLimited(audio, limits.captureTimeoutMs, (elapsed) => session.captureTimeout(elapsed)),
      }),
    signal,
  )
  return {file, diagnostics}
}
