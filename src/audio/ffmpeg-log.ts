import type {AudioTrack, TrackList} from './audio-track.js'

/** Maximum length of a line that is parsed, and of a message that is reported, characters. */
const maxLineLength = 4096
const maxReasonLength = 200
/** Audio counts as incomplete if it is shorter than the container declares by more than this, seconds. */
const minShortfallSec = 0.3

/** Parses the log of ffmpeg at `-v level+info`. */
export class FfmpegLog {
  #rest = ''
  #first: string | undefined
  #count = 0
  /** Duration declared by the container, seconds; undefined if there is none, NaN if it is a guess or includes video. */
  #durationSec: number | undefined
  readonly #kinds = new Set<string>()
  /** The audio streams by their number. */
  readonly #streams = new Map<number, Omit<AudioTrack, 'number'>>()
  /** The stream whose description is being read; undefined for other streams, and after the input. */
  #described: Omit<AudioTrack, 'number'> | undefined
  #isInput = true
  readonly #onTracks: ((list: TrackList) => void) | undefined

  /** @param onTracks called when the track to decode is known */
  constructor(onTracks?: (list: TrackList) => void) {
    this.#onTracks = onTracks
  }

  /** The audio tracks of the input. */
  get tracks(): readonly AudioTrack[] {
    return this.#numbers.map((stream, i) => ({...(this.#streams.get(stream) as AudioTrack), number: i + 1}))
  }

  /** The numbers of the audio streams in the order of the file; ffmpeg lists them by program, some repeatedly. */
  get #numbers(): readonly number[] {
    return [...this.#streams.keys()].sort((a, b) => a - b)
  }

  /** Duration of the input including its video, seconds; undefined if it is unknown. */
  wholeSec: number | undefined

  read(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = (lines.pop() ?? '').slice(0, maxLineLength)
    for (const line of lines) this.#line(line)
  }

  /** The first complaint; the last one only repeats that the file is invalid. */
  get reason(): string {
    if (this.#rest !== '') this.read('\n')
    return this.#first === undefined ? 'ffmpeg failed' : `ffmpeg reported: ${this.#first}`
  }

  /** True if the file has tracks but no audio track. */
  get isWithoutAudio(): boolean {
    return this.#kinds.size > 0 && !this.#kinds.has('Audio')
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
      this.wholeSec ??= 3600 * hours + 60 * minutes + seconds
      this.#durationSec ??= 3600 * hours + 60 * minutes + seconds - Math.max(0, start)
    }
    const track = /^\[info\] +Stream #0:\d+.*?: (Audio|Video|Subtitle|Data|Attachment): /.exec(line)?.[1]
    if (track !== undefined) this.#kinds.add(track)
    this.#describe(line)
    // Video may be longer than its audio.
    if (/^\[info\] +Stream #0.*: Video: (?!.*\(attached pic\))/.test(line)) this.#durationSec = Number.NaN
  }

  #describe(line: string): void {
    const mapped = mappingLine.exec(line)?.[1]
    if (mapped !== undefined && this.#streams.has(Number(mapped)))
      this.#onTracks?.({
        tracks: this.tracks,
        selected: 1 + this.#numbers.indexOf(Number(mapped)),
        durationSec: this.wholeSec,
      })
    if (/^\[info\] (Stream mapping:|Output #)/.test(line)) this.#isInput = false
    if (!this.#isInput) return
    const [, stream, language = 'und', kind, properties = ''] = streamLine.exec(line) ?? []
    if (kind === 'Audio') {
      this.#described = {
        codec: /^\w+/.exec(properties)?.[0] ?? 'unknown',
        sampleRate: Number(/(\d+) Hz/.exec(properties)?.[1] ?? 0),
        layout: / Hz, ([^,]+)/.exec(properties)?.[1] ?? 'unknown',
        ...(language === 'und' ? {} : {language}),
        isDefault: properties.includes('(default)'),
      }
      this.#streams.set(Number(stream), this.#described)
    } else if (kind !== undefined) this.#described = undefined
    const title = titleLine.exec(line)?.[1]?.trim()
    if (this.#described !== undefined && title) this.#described.title ??= title
  }
}

/** The title of a stream, in the indented lines after it. */
const titleLine = /^\[info\] {3,}title +: (.*)$/

/** A stream of the input: its number, its language, which is any text, and its properties. */
const streamLine = /^\[info\] +Stream #0:(\d+)(?:\[\w+\])?(?:\((.+?)\))?: (\w+): (.*)$/

/** Which stream is decoded. */
const mappingLine = /^\[info\] +Stream #0:(\d+) -> #0:0 /

/** ffmpeg logs corrupt packets as warnings, and other losses as errors. */
const isComplaint = (line: string): boolean =>
  (/\[(error|fatal|panic)\]/.test(line) || /\[warning\].*\bcorrupt/i.test(line)) && !isSearchForEnd(line)

/** The `cache` protocol logs that a pipe has no known end, which it reads to then. It loses nothing. */
const isSearchForEnd = (line: string): boolean =>
  /^\[cache @ \w+\] \[error\] Inner protocol failed to seekback end\b/.test(line)

/** Removes component names, addresses, levels and the name of the input from a message. */
const withoutPrefix = (line: string): string =>
  line
    .replace(/^(\[[^\]]*\]\s*)+/, '')
    .replace(/^(Error opening input file )?(file:.*|(cache:)?pipe:\d*)(: |\.$)/, '')
    .replace(/\.$/, '')
    .slice(0, maxReasonLength)
