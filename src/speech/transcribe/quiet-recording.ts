import type {Level} from '../../audio/index.js'

/** A recording of which the detector may have missed words. */
export interface LevelWarning {
  code: 'recording_quiet'
  message: string
}

interface QuietRecording {
  /** Name in warnings. */
  name: string
  /** Threshold of the energy detector; undefined without that detector. */
  threshold: number | undefined
  /** True if the recording can be read again. */
  isRepeatable: boolean
  onWarning: (warning: LevelWarning) => void
}

/**
 * Transcribes a recording. If it has no text because it is too quiet for the energy detector, it is amplified and
 * transcribed again.
 * @param attempt transcribes the recording, and measures its loudest sample
 */
export async function amplifiedIfQuiet<R extends {transcript: {segments: readonly unknown[]}}>(
  {name, threshold, isRepeatable, onWarning}: QuietRecording,
  attempt: (gain: number, level: Level) => Promise<R>,
): Promise<R> {
  const level: Level = {peak: 0}
  const result = await attempt(1, level)
  const {peak} = level
  if (threshold === undefined || peak < minPeak || peak > quietPeak(threshold)) return result
  if (result.transcript.segments.length > 0 || !isRepeatable) {
    onWarning(quiet(name, peak, 'If words are missing, use --vad-energy-threshold 0.0003 --preprocess peak_normalize.'))
    return result
  }
  const gain = usualPeak / peak
  const amplified = await attempt(gain, level)
  if (amplified.transcript.segments.length === 0) return result
  onWarning(quiet(name, peak, `It was amplified by ${decibels(gain)} dB.`))
  return amplified
}

/**
 * The loudest samples of a recording that is too quiet for the energy detector, of one with more than the noise of a
 * converter, and of an amplified one. A threshold above the default does not make a recording quiet.
 */
const quietPeak = (threshold: number): number => Math.min(0.0125, (25 / 6) * threshold)
const minPeak = 0.0005
const usualPeak = 0.5

const decibels = (amplitude: number): number => Math.round(20 * Math.log10(amplitude))

const quiet = (name: string, peak: number, help: string): LevelWarning => ({
  code: 'recording_quiet',
  message: `${name} is very quiet: its loudest sample has ${decibels(peak)} dBFS. ${help}`,
})
