import {Flags} from '@oclif/core'

const limit = (description: string) => Flags.integer({description, helpValue: 'MS', min: 0})

/** Time limits of a speech session; 0 counts as omitted. */
export const sessionFlags = {
  'timeout-ms': limit('Time without audio after which the session fails.'),
  'max-ms': limit('Maximum duration of the session, or of one utterance of live speech.'),
  'inference-deadline-ms': limit('Time limit for recognition.'),
}

/** The limits that the flags set. */
export const sessionLimitsOf = (flags: {
  'timeout-ms'?: number | undefined
  'max-ms'?: number | undefined
  'inference-deadline-ms'?: number | undefined
}) => ({
  timeoutMs: flags['timeout-ms'],
  maxDurationMs: flags['max-ms'],
  inferenceDeadlineMs: flags['inference-deadline-ms'],
})
