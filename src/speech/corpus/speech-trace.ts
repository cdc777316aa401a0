import type {FailureCategory, SpeechTrace} from '../../contracts/index.js'
import {appendJsonLine} from '../../files/index.js'

/** What is known about a spoken request. Members that are undefined are not part of its trace. */
export interface SpokenRequest {
  sessionId: string
  correlationId?: string | undefined
  /** Recognised text before refinement. */
  rawText?: string | undefined
  refinedText: string
  /** Readings, best first. */
  readings?: readonly string[] | undefined
  intent?: {action: string; slots: Readonly<Record<string, unknown>>} | undefined
  repairAttempts?: number | undefined
  compileOk?: boolean | undefined
  failure?: FailureCategory | undefined
  diagnostics?: SpeechTrace['diagnostics_snapshot'] | undefined
}

/** Builds the trace of a spoken request, as in the contract `speech-to-code/speech_trace`. */
export function speechTrace(request: SpokenRequest): SpeechTrace {
  const {readings = [], intent} = request
  const optional = {
    correlation_id: request.correlationId,
    raw_transcript: request.rawText,
    transcript_alternatives: readings.length > 1 ? readings : undefined,
    intent_action: intent?.action,
    intent_slots: intent?.slots,
    repair_attempts: request.repairAttempts,
    compile_ok: request.compileOk,
    failure_category: request.failure,
    diagnostics_snapshot: request.diagnostics,
  }
  return {
    schema_version: '1',
    session_id: request.sessionId,
    refined_transcript: request.refinedText,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  }
}

/**
 * Appends a trace to a file, as one line. Creates the file and missing folders.
 * @throws disk_full, file_unwritable
 */
export const appendSpeechTrace = (path: string, trace: SpeechTrace): Promise<void> => appendJsonLine(path, trace)
