import {Background, type BackgroundState, type StandoutFrame} from './background.js'
import {hopLength} from './log-mel.js'
import {type FrameSpan, RegionBuilder, type RegionState} from './region-builder.js'
import type {SpeechRegion, VoiceActivityDetector, VoiceActivityState} from './voice-activity.js'

export interface EnergyVadOptions {
  /** Minimum RMS of the loudest frame of a region; full scale is 1. */
  threshold?: number
  /** Maximum pause within a region, ms. */
  mergeGapMs?: number
  /** Minimum length of a region, ms. */
  minSpeechMs?: number
  /** Maximum length of a region, seconds; a longer one is split at its lowest score. */
  maxRegionSec?: number
  /** Decides sooner, for live audio: 50 ms instead of 500 ms after a frame, from the background before it. */
  live?: boolean
  /** State to continue from. */
  state?: VoiceActivityState | undefined
}

interface EnergyVadState extends VoiceActivityState {
  background: BackgroundState
  regions: RegionState<StandoutFrame>
}

/** Minimum excess over the background at the start of a voice and while it continues, dB. */
const beginExcess = 5
const sustainExcess = 2.5
/** Range below the threshold in which frames may still belong to a voice, and in which bands count, dB. */
const softRange = 8
const bandRange = 22
/** Minimum length of a voice, frames of 10 ms; clicks are shorter. */
const minVoice = 8
/** A pause is measured this much too short, because the frames at its ends overlap the voice. */
const frameOverlapMs = 30
/** Maximum length of the quiet onset of a voice, frames. */
const maxOnset = 20
/** Minimum level range of speech, mean over the bands, dB; noise, hum and tones vary less. */
const minChange = 3
/** Frames at the start and end of a region that overlap the silence around it, so that their level varies anyway. */
const firstEdge = 2
const lastEdge = 1
/** Regions of at least this many frames are measured without these edges; in shorter ones the edges matter. */
const minWithoutEdges = 2 * minVoice
/** Lower bound of a band relative to the level of its frame, dB; anything below is leakage from other bands. */
const frameRange = 35

/**
 * Energy-based voice activity detector. Speech exceeds the background in several bands for longer than a click, and its
 * level varies more than that of noise, hum and tones. Region boundaries are accurate to about 20 ms.
 */
export function energyVad({
  threshold = 0.003,
  mergeGapMs = 300,
  minSpeechMs = 0,
  maxRegionSec = 25,
  live = false,
  state,
}: EnergyVadOptions = {}): VoiceActivityDetector {
  const minLevel = 20 * Math.log10(Math.max(threshold, 1e-5))
  const continued = structuredClone(state) as EnergyVadState | undefined
  const background = new Background(
    {minLevel: minLevel - softRange, bandFloor: minLevel - bandRange, live},
    continued?.background,
  )
  const regions = new RegionBuilder<StandoutFrame>(
    {
      begin: beginExcess,
      sustain: sustainExcess,
      mergeGap: Math.max(1, Math.round((mergeGapMs - frameOverlapMs) / 10)),
      minRun: minVoice,
      minLength: Math.ceil(minSpeechMs / 10),
      maxLength: Math.round(maxRegionSec * 100),
      onset: maxOnset,
      isSpeech: (frames) => frames.some(({level}) => level >= minLevel) && changes(frames),
    },
    continued?.regions,
  )
  let length = continued?.length ?? 0
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
    snapshot: (): EnergyVadState => structuredClone({length, background: background.state, regions: regions.state}),
  }
}

/** True if the band levels vary as in speech: the mean over the bands of the 15 % to 85 % range. */
function changes(all: readonly StandoutFrame[]): boolean {
  const frames = all.length < minWithoutEdges ? all : all.slice(firstEdge, -lastEdge)
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
  return sum >= minChange * bands
}

/** Mean power over three frames, dB, because mains hum fluctuates from frame to frame. */
function smoothed(levels: readonly number[]): Float32Array {
  const powers = levels.map((level) => 10 ** (level / 10))
  return Float32Array.from(powers, (power, i) => {
    const [before, after] = [powers[i - 1] ?? power, powers[i + 1] ?? power]
    return 10 * Math.log10((before + power + after) / 3)
  })
}
