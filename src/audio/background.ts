import {BandLevels, bandCount, type FrameLevels} from './band-levels.js'
import {LevelHistogram} from './level-histogram.js'
import type {ScoredFrame} from './region-builder.js'

/** A frame; its score is its level above the background, dB. */
export interface StandoutFrame extends ScoredFrame {
  /** Level over all bands, dB. */
  level: number
  /** Level of each band, dB, clamped to the band floor from below. */
  bands: Float32Array
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
  readonly #levels = new BandLevels()
  readonly #histogram = new LevelHistogram(bandCount)
  readonly #bandFloor: number
  readonly #leastLevel: number
  readonly #silence: Float32Array
  readonly #live: boolean
  /** Frames of the window; `#next` is the index of the next one to score. */
  #window: FrameLevels[] = []
  #next = 0
  #received = 0
  #scored = 0
  #background: Float32Array = new Float32Array(bandCount)

  /**
   * @param leastLevel level below which a frame cannot be voice, dB
   * @param bandFloor level below which a band is silent, dB
   */
  constructor({leastLevel, bandFloor, live}: {leastLevel: number; bandFloor: number; live: boolean}) {
    this.#leastLevel = leastLevel
    this.#bandFloor = bandFloor
    this.#silence = new Float32Array(bandCount).fill(bandFloor)
    this.#live = live
    if (live) for (let frame = 0; frame < shortRecording; frame++) this.#histogram.add(this.#silence)
  }

  *push(samples: Float32Array): Generator<StandoutFrame, void, undefined> {
    for (const frame of this.#levels.push(samples)) {
      this.#take(frame)
      // Wait until it is known whether the recording is short.
      if (!this.#live && this.#received < shortRecording) continue
      while (this.#window.length - this.#next > (this.#live ? liveAhead : ahead)) yield this.#score()
    }
  }

  *flush(): Generator<StandoutFrame, void, undefined> {
    for (const frame of this.#levels.flush()) this.#take(frame)
    if (!this.#live)
      for (let missing = shortRecording - this.#received; missing > 0; missing--) this.#histogram.add(this.#silence)
    while (this.#next < this.#window.length) yield this.#score()
  }

  #take({bands, overall}: FrameLevels): void {
    const floored = bands.map((level) => Math.max(level, this.#bandFloor))
    this.#window.push({bands: floored, overall})
    this.#histogram.add(floored)
    if (this.#live && this.#received < shortRecording) this.#histogram.remove(this.#silence)
    this.#received++
  }

  #score(): StandoutFrame {
    const {bands, overall} = this.#window[this.#next++] as FrameLevels
    if (this.#scored++ % measureEvery === 0) this.#background = this.#histogram.percentile(backgroundShare)
    let sum = 0
    for (let band = 0; band < bandCount; band++)
      sum += Math.max(0, Math.min(maxExcess, bands[band]! - this.#background[band]!))
    if (this.#next > behind) {
      this.#histogram.remove((this.#window.shift() as FrameLevels).bands)
      this.#next--
    }
    return {bands, level: overall, score: overall < this.#leastLevel ? 0 : sum / bandCount}
  }
}
