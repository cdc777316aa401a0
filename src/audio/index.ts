/** Sound: decoding, down-mix, resampling, log-mel features, voice activity. */
export type {AudioSource, AudioStream} from './audio-stream.js'
export {hopLength, logMel} from './log-mel.js'
export {type AudioInput, isAudioFile, type OpenAudioOptions, openAudio, type RawPcm} from './open-audio.js'
export {type PcmEncoding, pcmEncodings} from './pcm.js'
export {type Resampler, resampler} from './resample.js'
export type {AudioWarning} from './sound.js'
export type {SpeechRegion, VoiceActivityDetector} from './voice-activity.js'
