/** Maximum length of a line that is parsed, and of a message that is reported, characters. */
const longestLine = 4096
const longestReason = 200
/** Audio counts as incomplete if it is shorter than the container declares by more than this, seconds. */
const minShortfallSec = 0.3

/** Parses the log of ffmpeg at `-v level+info`. */
export class FfmpegLog {
  #rest = ''
  #first: string | undefined
  #count = 0
  /** Duration declared by the container, seconds; undefined if there is none, NaN if it is a guess or includes video. */
  #durationSec: number | undefined
  readonly #tracks = new Set<string>()

  read(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = (lines.pop() ?? '').slice(0, longestLine)
    for (const line of lines) this.#line(line)
  }

  /** The first complaint; the last one only repeats that the file is invalid. */
  get reason(): string {
    if (this.#rest !== '') this.read('\n')
    return this.#first === undefined ? 'ffmpeg failed' : `ffmpeg reported: ${this.#first}`
  }

  /** True if the file has tracks but no audio track. */
  get isWithoutAudio(): boolean {
    return this.#tracks.size > 0 && !this.#tracks.has('Audio')
  }

  /**
   * Describes the damage of a recording that ffmpeg decoded anyway; undefined if there is none.
   * @param decodedSec duration of the decoded audio, seconds
   */
  damage(decodedSec: number): string | undefined {
    if (this.#rest !== '') this.read('\n')
    const shortfallSec = (this.#durationSec ?? 0) - decodedSec
    const reasons = [
      ...(shortfallSec > minShortfallSec
        ? [`it is ${shortfallSec.toFixed(2)} s shorter than its header declares`]
        : []),
      ...(this.#first === undefined ? [] : [`ffmpeg reported: ${this.#first}${this.#count > 1 ? ', and more' : ''}`]),
    ]
    return reasons.length === 0 ? undefined : reasons.join('; ')
  }

  #line(line: string): void {
    if (isComplaint(line)) {
      const message = withoutPrefix(line)
      this.#first ??= message
      this.#count++
      return
    }
    // This line precedes the description of the input: the duration that follows is a guess.
    if (line.includes('Estimating duration from bitrate')) this.#durationSec = Number.NaN
    const length = /^\[info\] +Duration: (\d+):(\d+):([\d.]+), start: (-?[\d.]+)/.exec(line)
    if (length !== null) {
      const [hours, minutes, seconds, start] = length.slice(1).map(Number) as [number, number, number, number]
      this.#durationSec ??= 3600 * hours + 60 * minutes + seconds - Math.max(0, start)
    }
    const track = /^\[info\] +Stream #0:\d+.*?: (Audio|Video|Subtitle|Data|Attachment): /.exec(line)?.[1]
    if (track !== undefined) this.#tracks.add(track)
    // Video may be longer than its audio.
    if (/^\[info\] +Stream #0.*: Video: (?!.*\(attached pic\))/.test(line)) this.#durationSec = Number.NaN
  }
}

/** ffmpeg logs corrupt packets as warnings, and other losses as errors. */
const isComplaint = (line: string): boolean =>
  /\[(error|fatal|panic)\]/.test(line) || /\[warning\].*\bcorrupt/i.test(line)

/** Removes component names, addresses, levels and the name of the input from a message. */
const withoutPrefix = (line: string): string =>
  line
    .replace(/^(\[[^\]]*\]\s*)+/, '')
    .replace(/^(Error opening input file )?(file:.*|(cache:)?pipe:\d*)(: |\.$)/, '')
    .replace(/\.$/, '')
    .slice(0, longestReason)
