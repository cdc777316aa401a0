import type {SpeechStatusV1, TranscribeV1} from '../contracts/index.js'

export interface Progress {
  done: number
  total?: number
  message?: string
}

export interface TranscribeRequest {
  /** Relative to the speech workspace, and inside it. */
  path: string
  language_hint?: string | null
  profile?: 'conservative' | 'balanced' | 'aggressive'
  debug_parser_payload?: boolean
}

/** The speech-to-text functions that operations need; a higher layer opens models and reads settings. */
export interface SpeechPort {
  transcribe(
    request: TranscribeRequest,
    hooks: {signal: AbortSignal; report: (progress: Progress) => void; notice: (text: string) => void},
  ): Promise<TranscribeV1>
  status(): Promise<SpeechStatusV1>
}
