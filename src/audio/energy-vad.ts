import {Background, type StandoutFrame} from './background.js'
import {hopLength} from './log-mel.js'
import {type FrameSpan, RegionBuilder} from './region-builder.js'
import type {SpeechRegion, VoiceActivityDetector} from './voice-activity.js'

export interface EnergyVadOptions {
  /** Root mean square that the loudest frame of a voice has at least; full scale is 1. */
  threshold?: number
  /** Silence up to this length joins two stretches of voice, ms. */
  mergeGapMs?: number
  /** A region that has become longer is ended at its quietest place, seconds. */
  maxRegionSec?: number
}

/** How far a voice stands out of the background when it begins, and while it goes on, dB. */
const beginExcess = 5
const sustainExcess = 2.5
/** How far below the threshold soft frames still belong to a voice, and bands count, dB. */
const softRange = 8
const bandRange = 22
/** A click is shorter, frames of 10 ms. */
const shortestVoice = 8
/** A pause looks this much shorter than it is, since frames at both of its ends hear some of the voice. */
const frameOverlapMs = 30
/** How far back the soft beginning of a voice may reach, frames. */
const longestOnset = 20
/** Noise, hum and tones change less between their soft and their loud frames, dB. */
const leastChange = 3
/** First and last frames of a voice that hear the silence beside it: they change however steady the sound is. */
const firstEdge = 2
const lastEdge = 1
/** They are left out of a voice of at least so many frames; of a shorter one they are too large a part. */
const leastWithoutEdges = 2 * shortestVoice
/** What lies further below the whole of its frame is a shadow of the other bands, dB. */
const frameRange = 35

/**
 * Finds speech by its energy: it stands out of the background in several bands, for longer than a click, and changes as
 * noise, hum and tones do not. Regions begin and end within about 20 ms of the voice.
 */
export function energyVad({
  threshold = 0.003,
  mergeGapMs = 300,
  maxRegionSec = 25,
}: EnergyVadOptions = {}): VoiceActivityDetector {
  const leastLevel = 20 * Math.log10(Math.max(threshold, 1e-5))
  const background = new Background({leastLevel: leastLevel - softRange, bandFloor: leastLevel - bandRange})
  const regions = new RegionBuilder<StandoutFrame>({
    begin: beginExcess,
    sustain: sustainExcess,
    mergeGap: Math.max(1, Math.round((mergeGapMs - frameOverlapMs) / 10)),
    shortest: shortestVoice,
    longest: Math.round(maxRegionSec * 100),
    onset: longestOnset,
    isSpeech: (frames) => frames.some(({level}) => level >= leastLevel) && changes(frames),
  })
  let length = 0
  const region = ({start, end}: FrameSpan): SpeechRegion => ({
    start: Math.min(start * hopLength, length),
    end: Math.min(end * hopLength, length),
  })
  const take = (frames: Iterable<StandoutFrame>): SpeechRegion[] => {
    const ended: SpeechRegion[] = []
    for (const frame of frames) {
      const span = regions.add(frame)
      if (span !== undefined) ended.push(region(span))
    }
    return ended
  }
  return {
    async push(samples) {
      length += samples.length
      return take(background.push(samples))
    },
    async flush() {
      const ended = take(background.flush())
      const last = regions.close()
      return last === undefined ? ended : [...ended, region(last)]
    },
    get open() {
      return regions.open === undefined ? undefined : region(regions.open)
    },
    get settled() {
      return Math.max(0, regions.settled * hopLength)
    },
  }
}

/** Whether the bands change as they do in speech: the mean over the bands of what lies between soft and loud frames. */
function changes(all: readonly StandoutFrame[]): boolean {
  const frames = all.length < leastWithoutEdges ? all : all.slice(firstEdge, -lastEdge)
  const overall = smoothed(frames.map(({level}) => level))
  const bands = frames[0]?.bands.length ?? 0
  let sum = 0
  for (let band = 0; band < bands; band++) {
    const levels = smoothed(frames.map((frame) => frame.bands[band]!))
    for (const [i, level] of overall.entries()) levels[i] = Math.max(levels[i]!, level - frameRange)
    levels.sort()
    const at = (share: number) => levels[Math.floor(share * (levels.length - 1))]!
    sum += at(0.85) - at(0.15)
  }
  return sum >= leastChange * bands
}

/** Means over the power of three frames, dB: mains hum alone goes up and down from each frame to the next. */
function smoothed(levels: readonly number[]): Float32Array {
  const powers = levels.map((level) => 10 ** (level / 10))
  return Float32Array.from(powers, (power, i) => {
    const [before, after] = [powers[i - 1] ?? power, powers[i + 1] ?? power]
    return 10 * Math.log10((before + power + after) / 3)
  })
}
