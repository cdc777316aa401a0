import type {SpeechStatusV1, TranscribeV1} from '../contracts/index.js'

/** How far an operation is. */
export interface Progress {
  done: number
  total?: number
  message?: string
}

/** What a caller wants of one transcription. */
export interface TranscribeRequest {
  /** Relative to the speech workspace, which it does not leave. */
  path: string
  language_hint?: string | null
  profile?: 'conservative' | 'balanced' | 'aggressive'
  debug_parser_payload?: boolean
}

/** Speech-to-text as operations need it: whoever opens models and reads settings stands above. */
export interface SpeechPort {
  transcribe(
    request: TranscribeRequest,
    hooks: {signal: AbortSignal; report: (progress: Progress) => void; notice: (text: string) => void},
  ): Promise<TranscribeV1>
  status(): Promise<SpeechStatusV1>
}
