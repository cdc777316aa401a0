import type {RuntimeGenerationKpiV1, SpeechTrace} from '../contracts/index.js'

/** Input of `transcribe`, and the fields that requests for sessions share. */
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

/** Input of `listen`. */
export interface ListenRequest extends TranscribeRequest {
  session_id?: string
  /** Changes that the text asks for are made without asking. */
  confirmed?: boolean
  /** Polishes the text with a language model if it needs it. */
  llm_refinement?: boolean
  llm_min_det_confidence?: number
  llm_max_output_tokens?: number
  /** Relative to the speech workspace, and inside it. */
  emit_asr_refine_path?: string
}

/** Input of `speech_to_code`: a recording or a text. */
export interface SpeechToCode extends Partial<TranscribeRequest> {
  prompt?: string
  include_route?: boolean
  validate?: boolean
  max_retries?: number
  session_id?: string
  output_surface_mode?: string
  emit_trace_path?: string
}

/** The transcript of a recording, or the text of a request. */
export interface SpokenText {
  raw_text: string
  refined_text: string
  confidence: number
  n_best?: readonly string[]
}

/** A generated program, or why there is none. */
export interface GeneratedCode {
  code?: string
  error?: {code: string; message: string}
  runtime_generation_kpi?: RuntimeGenerationKpiV1
  diagnostics_snapshot?: readonly {line: number; [member: string]: unknown}[]
}

/** Output of `speech_to_code`. */
export interface SpokenCode {
  correlation_id: string
  transcript: SpokenText
  route?: {mode: string; action: string; status: string; payload: Record<string, unknown>}
  generate: GeneratedCode
  speech_trace: SpeechTrace
}
