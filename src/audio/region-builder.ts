export interface ScoredFrame {
  score: number
}

export interface RegionRules<F extends ScoredFrame> {
  /** Score at which a voice begins. */
  begin: number
  /** Score below which it ends. */
  sustain: number
  /** Maximum number of consecutive unvoiced frames within a region. */
  mergeGap: number
  /** Minimum run of voiced frames. */
  minRun: number
  /** Minimum length of a region, frames. */
  minLength: number
  /** Maximum length of a region, frames; a longer one is split at the lowest score of its second half. */
  maxLength: number
  /** Maximum number of quieter frames before `begin` was reached that belong to the onset. */
  onset: number
  /** Decides whether the frames of a region are speech; default: every region with a long enough run. */
  isSpeech?: (frames: readonly F[]) => boolean
}

/** A half-open range of frames. */
export interface FrameSpan {
  start: number
  end: number
}

/** The state of a `RegionBuilder`. */
export interface RegionState<F> {
  /** Number of frames so far. */
  frame: number
  /** The last frames before a region; they may become its onset. */
  before: F[]
  candidate: Candidate<F> | undefined
}

interface Candidate<F> extends FrameSpan {
  /** All frames from `start`, including the pause after `end`. */
  frames: F[]
  /** Current and longest run of voiced frames. */
  run: number
  longestRun: number
  isSpeech: boolean
}

/** Groups voiced frames into regions of speech. */
export class RegionBuilder<F extends ScoredFrame> {
  readonly #rules: RegionRules<F>
  readonly #state: RegionState<F>

  constructor(rules: RegionRules<F>, state: RegionState<F> = {frame: 0, before: [], candidate: undefined}) {
    this.#rules = rules
    this.#state = state
  }

  get state(): RegionState<F> {
    return this.#state
  }

  /** The region that has not ended yet, once it is known to be speech. */
  get open(): FrameSpan | undefined {
    return this.#state.candidate?.isSpeech ? this.#state.candidate : undefined
  }

  /** No later region begins before this frame. */
  get settled(): number {
    return this.#state.candidate?.start ?? this.#state.frame - this.#state.before.length
  }

  /** Adds the next frame; returns the region that ended with it. */
  add(frame: F): FrameSpan | undefined {
    const {begin, sustain, mergeGap, onset} = this.#rules
    const at = this.#state.frame++
    const candidate = this.#state.candidate
    if (candidate === undefined) {
      this.#state.before.push(frame)
      if (frame.score >= begin) this.#open(at)
      else if (this.#state.before.length > onset) this.#state.before.shift()
      return undefined
    }
    candidate.frames.push(frame)
    const voiced = frame.score >= (candidate.run > 0 ? sustain : begin)
    if (voiced) this.#extend(candidate, at)
    else {
      candidate.run = 0
      if (at + 1 - candidate.end > mergeGap) return this.close()
    }
    return at + 1 - candidate.start >= this.#rules.maxLength ? this.#split(candidate) : undefined
  }

  /** Ends the open region, at a pause or at the end of the recording, and returns it if it is speech. */
  close(): FrameSpan | undefined {
    const candidate = this.#state.candidate
    this.#state.candidate = undefined
    if (candidate === undefined) return undefined
    const length = candidate.end - candidate.start
    const rest = candidate.frames.slice(length)
    this.#state.before = rest.slice(-this.#rules.onset)
    return this.#decide(candidate) ? {start: candidate.start, end: candidate.end} : undefined
  }

  #open(at: number): void {
    const {sustain, onset} = this.#rules
    let back = 1
    while (back <= onset && (this.#state.before.at(-1 - back)?.score ?? -Infinity) >= sustain) back++
    const frames = this.#state.before.slice(-back)
    this.#state.before = []
    const start = at + 1 - frames.length
    this.#state.candidate = {start, end: start, frames, run: frames.length - 1, longestRun: 0, isSpeech: false}
    this.#extend(this.#state.candidate, at)
  }

  #extend(candidate: Candidate<F>, at: number): void {
    candidate.end = at + 1
    candidate.run++
    candidate.longestRun = Math.max(candidate.longestRun, candidate.run)
    // Checking at every frame would be slow, and the first few frames are not enough to decide.
    if (!candidate.isSpeech && candidate.run % (2 * this.#rules.minRun) === 0) this.#decide(candidate)
  }

  #decide(candidate: Candidate<F>): boolean {
    const {minRun, minLength, isSpeech} = this.#rules
    candidate.isSpeech ||=
      candidate.end - candidate.start >= minLength &&
      candidate.longestRun >= minRun &&
      (isSpeech?.(candidate.frames.slice(0, candidate.end - candidate.start)) ?? true)
    return candidate.isSpeech
  }

  /** Ends a region in its second half; the remaining frames start a new region. */
  #split(candidate: Candidate<F>): FrameSpan | undefined {
    const half = Math.floor(candidate.frames.length / 2)
    let cut = half
    for (let i = half; i < candidate.end - candidate.start; i++)
      if (candidate.frames[i]!.score < candidate.frames[cut]!.score) cut = i
    const {start} = candidate
    const spoken = this.#decide(candidate)
    const frames = candidate.frames.slice(cut)
    this.#state.candidate = {...candidate, start: start + cut, frames, isSpeech: false}
    return spoken ? {start, end: start + cut} : undefined
  }
}
