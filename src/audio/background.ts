import {BandLevels, bandCount, type FrameLevels} from './band-levels.js'
import {type HistogramState, LevelHistogram} from './level-histogram.js'
import type {ScoredFrame} from './region-builder.js'

/** A frame; its score is its level above the background, dB. */
export interface StandoutFrame extends ScoredFrame {
  /** Level over all bands, dB. */
  level: number
  /** Level of each band, dB, clamped to the band floor from below. */
  bands: Float32Array
}

interface Progress {
  /** Frames around the next one to score, which is at `next`. */
  window: FrameLevels[]
  next: number
  received: number
  scored: number
  /** The last estimate, dB, `[bands]`. */
  background: Float32Array
}

/** The state of a `Background`. */
export interface BackgroundState extends Progress {
  rest: Float32Array
  histogram: HistogramState
}

/** Frames after and before a frame that are used to estimate its background. */
const ahead = 50
const behind = 250
/** Frames after a frame of live audio, which shall be scored soon. */
const liveAhead = 5
/** Percentile of their levels that counts as background, as a share. */
const backgroundShare = 0.2
/** Frames between two estimates; the background changes slowly. */
const measureEvery = 5
/** A recording with fewer frames is treated as if it were surrounded by silence. */
const shortRecording = 100
/** Maximum contribution of one band to the score, dB. */
const maxExcess = 20

/**
 * Scores frames by their level above the background: the mean over the bands of the excess over the quiet frames around
 * them, dB. Frames are returned with a delay of 0.5 s, those of live audio of 0.05 s.
 */
export class Background {
  readonly #levels: BandLevels
  readonly #histogram: LevelHistogram
  readonly #bandFloor: number
  readonly #minLevel: number
  readonly #silence: Float32Array
  readonly #live: boolean
  readonly #state: Progress

  /**
   * @param leastLevel level below which a frame cannot be voice, dB
   * @param bandFloor level below which a band is silent, dB
   */
  constructor(
    {minLevel, bandFloor, live}: {minLevel: number; bandFloor: number; live: boolean},
    state?: BackgroundState,
  ) {
    const {rest, histogram, ...progress} = state ?? {}
    this.#levels = new BandLevels(rest)
    this.#histogram = new LevelHistogram(bandCount, histogram)
    this.#state = {window: [], next: 0, received: 0, scored: 0, background: new Float32Array(bandCount), ...progress}
    this.#minLevel = minLevel
    this.#bandFloor = bandFloor
    this.#silence = new Float32Array(bandCount).fill(bandFloor)
    this.#live = live
    if (live && state === undefined)
      for (let frame = 0; frame < shortRecording; frame++) this.#histogram.add(this.#silence)
  }

  get state(): BackgroundState {
    return {rest: this.#levels.rest, histogram: this.#histogram.state, ...this.#state}
  }

  *push(samples: Float32Array): Generator<StandoutFrame, void, undefined> {
    for (const frame of this.#levels.push(samples)) {
      this.#take(frame)
      // Wait until it is known whether the recording is short.
      if (!this.#live && this.#state.received < shortRecording) continue
      while (this.#state.window.length - this.#state.next > (this.#live ? liveAhead : ahead)) yield this.#score()
    }
  }

  *flush(): Generator<StandoutFrame, void, undefined> {
    for (const frame of this.#levels.flush()) this.#take(frame)
    if (!this.#live)
      for (let missing = shortRecording - this.#state.received; missing > 0; missing--)
        this.#histogram.add(this.#silence)
    while (this.#state.next < this.#state.window.length) yield this.#score()
  }

  #take({bands, overall}: FrameLevels): void {
    const floored = bands.map((level) => Math.max(level, this.#bandFloor))
    this.#state.window.push({bands: floored, overall})
    this.#histogram.add(floored)
    if (this.#live && this.#state.received < shortRecording) this.#histogram.remove(this.#silence)
    this.#state.received++
  }

  #score(): StandoutFrame {
    const {bands, overall} = this.#state.window[this.#state.next++] as FrameLevels
    if (this.#state.scored++ % measureEvery === 0) this.#state.background = this.#histogram.percentile(backgroundShare)
    let sum = 0
    for (let band = 0; band < bandCount; band++)
      sum += Math.max(0, Math.min(maxExcess, bands[band]! - this.#state.background[band]!))
    if (this.#state.next > behind) {
      this.#histogram.remove((this.#state.window.shift() as FrameLevels).bands)
      this.#state.next--
    }
    return {bands, level: overall, score: overall < this.#minLevel ? 0 : sum / bandCount}
  }
}
