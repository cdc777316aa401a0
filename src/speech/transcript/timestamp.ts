/** Formats a time as `HH:MM:SS`, a separator and milliseconds, as in subtitles. */
export function timestamp(milliseconds: number, mark: ',' | '.'): string {
  const whole = Math.max(0, Math.round(milliseconds))
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const clock = `${two(whole / 3_600_000)}:${two((whole / 60_000) % 60)}:${two((whole / 1000) % 60)}`
  return `${clock}${mark}${String(whole % 1000).padStart(3, '0')}`
}
