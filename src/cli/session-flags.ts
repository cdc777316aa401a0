import {Flags} from '@oclif/core'
import {inGroup} from './flag-groups.js'

const limit = (description: string) => Flags.integer({description, helpValue: 'MS', min: 0})

/** Time limits of a speech session, with their descriptions; 0 counts as omitted. */
const sessionFlags = (timeout: string, max: string, inference: string) =>
  inGroup('limit', {
    'timeout-ms': limit(timeout),
    'max-ms': limit(max),
    'inference-deadline-ms': limit(inference),
  })

/** Limits for each recording. */
export const recordingLimitFlags = sessionFlags(
  'Time without audio after which a recording fails. (default: no limit)',
  'Time limit for reading and transcribing a recording. (default: no limit)',
  'Time limit for the recognition of a recording. (default: no limit)',
)

/** Limits for live speech, which also has settings for them. */
export const liveLimitFlags = sessionFlags(
  'Time without audio after which the session fails. (default: 12000; env: SVC_SPEECH_CAPTURE_TIMEOUT_MS)',
  'Maximum duration of an utterance. (default: 120000; env: SVC_SPEECH_MAX_DURATION_MS)',
  'Time limit for the recognition of an utterance. (default: SVC_SPEECH_MAX_DURATION_MS; env: SVC_SPEECH_INFERENCE_DEADLINE_MS)',
)

/** The limits that the flags set. */
export const sessionLimitsOf = (flags: {
  'timeout-ms'?: number | undefined
  'max-ms'?: number | undefined
  'inference-deadline-ms'?: number | undefined
}) => ({
  captureTimeoutMs: flags['timeout-ms'],
  maxDurationMs: flags['max-ms'],
  inferenceDeadlineMs: flags['inference-deadline-ms'],
})
