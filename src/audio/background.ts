import {BandLevels, bandCount, type FrameLevels} from './band-levels.js'
import {LevelHistogram} from './level-histogram.js'
import type {ScoredFrame} from './region-builder.js'

/** A frame and how far it stands out of the background. */
export interface StandoutFrame extends ScoredFrame {
  /** Level of all bands together, dB. */
  level: number
  /** Level of each band, dB, cut off below where nothing counts. */
  bands: Float32Array
}

/** Frames after and before one that tell how loud the background is there. */
const ahead = 50
const behind = 250
/** Share of them that is background. */
const backgroundShare = 0.2
/** It changes slowly: frames from one measurement to the next. */
const measureEvery = 5
/** A recording with fewer frames was cut out of silence. */
const shortRecording = 100
/** More than this in one band says nothing more, dB. */
const mostExcess = 20

/**
 * How far each frame stands out of its background: the mean over the bands of what lies above the quiet frames around
 * it, dB. Frames come half a second after their sound.
 */
export class Background {
  readonly #levels = new BandLevels()
  readonly #histogram = new LevelHistogram(bandCount)
  readonly #bandFloor: number
  readonly #leastLevel: number
  /** Frames of the window; the next one to be scored is `#next`. */
  #window: FrameLevels[] = []
  #next = 0
  #received = 0
  #scored = 0
  #background: Float32Array = new Float32Array(bandCount)

  /**
   * @param leastLevel level from which a frame may be a voice, dB
   * @param bandFloor level below which a band is silent, dB
   */
  constructor({leastLevel, bandFloor}: {leastLevel: number; bandFloor: number}) {
    this.#leastLevel = leastLevel
    this.#bandFloor = bandFloor
  }

  *push(samples: Float32Array): Generator<StandoutFrame, void, undefined> {
    for (const frame of this.#levels.push(samples)) {
      this.#take(frame)
      // Until it is known whether the recording is a short one, nothing is said.
      if (this.#received < shortRecording) continue
      while (this.#window.length - this.#next > ahead) yield this.#score()
    }
  }

  *flush(): Generator<StandoutFrame, void, undefined> {
    for (const frame of this.#levels.flush()) this.#take(frame)
    for (let missing = shortRecording - this.#received; missing > 0; missing--)
      this.#histogram.add(new Float32Array(bandCount).fill(this.#bandFloor))
    while (this.#next < this.#window.length) yield this.#score()
  }

  #take({bands, overall}: FrameLevels): void {
    const floored = bands.map((level) => Math.max(level, this.#bandFloor))
    this.#window.push({bands: floored, overall})
    this.#histogram.add(floored)
    this.#received++
  }

  #score(): StandoutFrame {
    const {bands, overall} = this.#window[this.#next++] as FrameLevels
    if (this.#scored++ % measureEvery === 0) this.#background = this.#histogram.percentile(backgroundShare)
    let sum = 0
    for (let band = 0; band < bandCount; band++)
      sum += Math.max(0, Math.min(mostExcess, bands[band]! - this.#background[band]!))
    if (this.#next > behind) {
      this.#histogram.remove((this.#window.shift() as FrameLevels).bands)
      this.#next--
    }
    return {bands, level: overall, score: overall < this.#leastLevel ? 0 : sum / bandCount}
  }
}
