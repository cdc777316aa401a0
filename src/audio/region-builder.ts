/** A frame with a score: how much it sounds like a voice. */
export interface ScoredFrame {
  score: number
}

export interface RegionRules<F extends ScoredFrame> {
  /** Score from which a voice begins. */
  begin: number
  /** Score down to which it goes on. */
  sustain: number
  /** Frames without a voice that do not end a region. */
  mergeGap: number
  /** Frames in a row that a voice needs. */
  shortest: number
  /** A region that has grown to this many frames is ended at its least voiced one. */
  longest: number
  /** Most frames by which a soft beginning precedes the frame that gave the voice away. */
  onset: number
  /** Whether the frames of a region are speech; all that have a voice are, where it is left out. */
  isSpeech?: (frames: readonly F[]) => boolean
}

/** First frame, and the one after the last. */
export interface FrameSpan {
  start: number
  end: number
}

interface Candidate<F> extends FrameSpan {
  /** From `start` on, the pause after `end` included. */
  frames: F[]
  /** Frames of voice in a row, now and at most. */
  run: number
  longestRun: number
  isSpeech: boolean
}

/** Joins frames that sound like a voice to regions of speech. */
export class RegionBuilder<F extends ScoredFrame> {
  readonly #rules: RegionRules<F>
  #frame = 0
  /** The last frames before a region, which may turn out to be its beginning. */
  #before: F[] = []
  #candidate: Candidate<F> | undefined

  constructor(rules: RegionRules<F>) {
    this.#rules = rules
  }

  /** The region that has not ended, once it is sure to be speech. */
  get open(): FrameSpan | undefined {
    return this.#candidate?.isSpeech ? this.#candidate : undefined
  }

  /** No region that is still to come begins before this frame. */
  get settled(): number {
    return this.#candidate?.start ?? this.#frame - this.#before.length
  }

  /** Takes the next frame; gives the region that ended with it. */
  add(frame: F): FrameSpan | undefined {
    const {begin, sustain, mergeGap, onset} = this.#rules
    const at = this.#frame++
    const candidate = this.#candidate
    if (candidate === undefined) {
      this.#before.push(frame)
      if (frame.score >= begin) this.#open(at)
      else if (this.#before.length > onset) this.#before.shift()
      return undefined
    }
    candidate.frames.push(frame)
    const voiced = frame.score >= (candidate.run > 0 ? sustain : begin)
    if (voiced) this.#extend(candidate, at)
    else {
      candidate.run = 0
      if (at + 1 - candidate.end > mergeGap) return this.close()
    }
    return at + 1 - candidate.start >= this.#rules.longest ? this.#split(candidate) : undefined
  }

  /** The end of the recording: gives the region that is still open. */
  close(): FrameSpan | undefined {
    const candidate = this.#candidate
    this.#candidate = undefined
    if (candidate === undefined) return undefined
    const length = candidate.end - candidate.start
    const rest = candidate.frames.slice(length)
    this.#before = rest.slice(-this.#rules.onset)
    return this.#decide(candidate) ? {start: candidate.start, end: candidate.end} : undefined
  }

  #open(at: number): void {
    const {sustain, onset} = this.#rules
    let back = 1
    while (back <= onset && (this.#before.at(-1 - back)?.score ?? -Infinity) >= sustain) back++
    const frames = this.#before.slice(-back)
    this.#before = []
    const start = at + 1 - frames.length
    this.#candidate = {start, end: start, frames, run: frames.length - 1, longestRun: 0, isSpeech: false}
    this.#extend(this.#candidate, at)
  }

  #extend(candidate: Candidate<F>, at: number): void {
    candidate.end = at + 1
    candidate.run++
    candidate.longestRun = Math.max(candidate.longestRun, candidate.run)
    // Looking again at every frame would be slow, and the first frames alone are too few to tell.
    if (!candidate.isSpeech && candidate.run % (2 * this.#rules.shortest) === 0) this.#decide(candidate)
  }

  #decide(candidate: Candidate<F>): boolean {
    const {shortest, isSpeech} = this.#rules
    candidate.isSpeech ||=
      candidate.longestRun >= shortest &&
      (isSpeech?.(candidate.frames.slice(0, candidate.end - candidate.start)) ?? true)
    return candidate.isSpeech
  }

  /** Ends a region in its second half; what follows is a region of its own. */
  #split(candidate: Candidate<F>): FrameSpan | undefined {
    const half = Math.floor(candidate.frames.length / 2)
    let cut = half
    for (let i = half; i < candidate.end - candidate.start; i++)
      if (candidate.frames[i]!.score < candidate.frames[cut]!.score) cut = i
    const {start} = candidate
    const spoken = this.#decide(candidate)
    const frames = candidate.frames.slice(cut)
    this.#candidate = {...candidate, start: start + cut, frames, isSpeech: false}
    return spoken ? {start, end: start + cut} : undefined
  }
}
