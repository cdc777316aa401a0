/** Sound: decoding, down-mix, resampling, log-mel features, voice activity. */
export type {AudioSource, AudioStream} from './audio-stream.js'
export {hopLength, logMel} from './log-mel.js'
export type {SpeechRegion, VoiceActivityDetector} from './voice-activity.js'
