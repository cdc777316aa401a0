/** Longest line that is looked at, and most that is shown of one, characters. */
const longestLine = 4096
const longestReason = 200
/** Sound that is shorter than the container says by more than this lacks a part, seconds. */
const leastLack = 0.3

/** What ffmpeg says at `-v level+info`, line by line. */
export class FfmpegLog {
  #rest = ''
  #first: string | undefined
  #last: string | undefined
  #count = 0
  /** Seconds of sound that the container says there are; undefined where it does not, or where film is in it too. */
  #durationSec: number | undefined
  /** Kinds of the tracks that the file has. */
  readonly #tracks = new Set<string>()

  read(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = (lines.pop() ?? '').slice(0, longestLine)
    for (const line of lines) this.#line(line)
  }

  /** Why it failed. */
  get reason(): string {
    if (this.#rest !== '') this.read('\n')
    return this.#last === undefined ? 'ffmpeg failed' : `ffmpeg says: ${this.#last}`
  }

  /** Whether there is film, a picture or text in it, and no sound. */
  get isWithoutAudio(): boolean {
    return this.#tracks.size > 0 && !this.#tracks.has('Audio')
  }

  /**
   * What is wrong with a recording that it has decoded all the same; undefined where nothing is.
   * @param decodedSec length of the decoded sound, seconds
   */
  damage(decodedSec: number): string | undefined {
    if (this.#rest !== '') this.read('\n')
    const lack = (this.#durationSec ?? 0) - decodedSec
    const reasons = [
      ...(lack > leastLack ? [`${lack.toFixed(2)} s of the length in its header are missing`] : []),
      ...(this.#first === undefined ? [] : [`ffmpeg says: ${this.#first}${this.#count > 1 ? ', and more' : ''}`]),
    ]
    return reasons.length === 0 ? undefined : reasons.join('; ')
  }

  #line(line: string): void {
    if (isComplaint(line)) {
      const said = withoutPlace(line)
      this.#first ??= said
      this.#last = said
      this.#count++
      return
    }
    // Before the input is described: its length is a guess.
    if (line.includes('Estimating duration from bitrate')) this.#durationSec = Number.NaN
    const length = /^\[info\] +Duration: (\d+):(\d+):([\d.]+), start: (-?[\d.]+)/.exec(line)
    if (length !== null) {
      const [hours, minutes, seconds, start] = length.slice(1).map(Number) as [number, number, number, number]
      this.#durationSec ??= 3600 * hours + 60 * minutes + seconds - Math.max(0, start)
    }
    const track = /^\[info\] +Stream #0:\d+.*?: (Audio|Video|Subtitle|Data|Attachment): /.exec(line)?.[1]
    if (track !== undefined) this.#tracks.add(track)
    // Film may be longer than its sound.
    if (/^\[info\] +Stream #0.*: Video: (?!.*\(attached pic\))/.test(line)) this.#durationSec = Number.NaN
  }
}

/** Packets that are known to be broken are a warning, and all else that is lost an error. */
const isComplaint = (line: string): boolean =>
  /\[(error|fatal|panic)\]/.test(line) || /\[warning\].*\bcorrupt/i.test(line)

/** Paths, addresses and levels in front of a message do not help. */
const withoutPlace = (line: string): string =>
  line
    .replace(/^(\[[^\]]*\]\s*)+/, '')
    .replace(/\.$/, '')
    .slice(0, longestReason)
