import type {ListenV1, SpeechStatusV1, TranscribeV1} from '../contracts/index.js'
import type {ListenPorts} from '../speech/index.js'

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
  timeout_ms?: number
  max_duration_ms?: number
  inference_deadline_ms?: number
  heartbeat_ms?: number
  route_mode?: 'none' | 'tool' | 'chat' | 'orchestrator'
}

export interface ListenRequest extends TranscribeRequest {
  session_id?: string
  /** Changes that the text asks for are made without asking. */
  confirmed?: boolean
  llm_refinement?: boolean
  llm_min_det_confidence?: number
  llm_max_output_tokens?: number
  /** Relative to the speech workspace, and inside it. */
  emit_asr_refine_path?: string
}

export interface SpeechHooks {
  signal: AbortSignal
  report: (progress: Progress) => void
  notice: (text: string) => void
}

/** The speech-to-text functions that operations need; a higher layer opens models and reads settings. */
export interface SpeechPort {
  transcribe(request: TranscribeRequest, hooks: SpeechHooks): Promise<TranscribeV1>
  /** Transcribes a recording as a live session, and uses the text. */
  listen(request: ListenRequest, hooks: SpeechHooks, ports: ListenPorts): Promise<ListenV1>
  status(): Promise<SpeechStatusV1>
}
