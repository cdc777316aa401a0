/** Formats the progress of a transcription, such as `0:42 of 11:05, 12.3x, 0:51 left`. */
export interface RecordingProgress {
  start(durationSec: number | undefined): void
  advance(processedSec: number): void
}

/** @param now milliseconds that only go up */
export function createProgress(
  show: (detail: string) => void,
  now: () => number = () => performance.now(),
): RecordingProgress {
  let durationSec: number | undefined
  let started = now()
  return {
    start(duration) {
      durationSec = duration
      started = now()
    },
    advance(processedSec) {
      const speed = processedSec / Math.max(1e-3, (now() - started) / 1000)
      const whole = durationSec === undefined ? '' : ` of ${clock(durationSec)}`
      const left =
        durationSec === undefined || speed === 0
          ? ''
          : `, ${clock(Math.max(0, durationSec - processedSec) / speed)} left`
      show(`${clock(processedSec)}${whole}, ${speed.toFixed(1)}x${left}`)
    },
  }
}

function clock(seconds: number): string {
  const whole = Math.round(seconds)
  const two = (value: number) => String(value % 60).padStart(2, '0')
  const hours = Math.floor(whole / 3600)
  const minutes = Math.floor(whole / 60)
  return hours === 0 ? `${minutes}:${two(whole)}` : `${hours}:${two(minutes)}:${two(whole)}`
}
