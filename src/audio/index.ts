/** Audio decoding, down-mixing, resampling, log-mel features and voice activity detection. */
export type {AudioStream} from './audio-stream.js'
export {type AudioTrack, describeTracks, type TrackChoice, type TrackList} from './audio-track.js'
export {type EnergyVadOptions, energyVad} from './energy-vad.js'
export {type Excerpt, excerptOf} from './excerpt.js'
export {audioExtensions} from './extensions.js'
export {type Level, withGain} from './level.js'
export {hopLength, LogMelStream, logMel} from './log-mel.js'
export {isVadModel, type NeuralVadOptions, neuralVad, type VadModel} from './neural-vad.js'
export {
  type AudioInput,
  type AudioProbe,
  hasAudioContent,
  isAudioFile,
  type OpenAudioOptions,
  openAudio,
  probeAudio,
  type RawPcm,
} from './open-audio.js'
export {decodeS16le, encodeS16le} from './pcm.js'
export {type PreprocessMode, type PreprocessOptions, preprocess} from './preprocess.js'
export {listMicrophones, recordMicrophone} from './recorder.js'
export {resampler} from './resample.js'
export type {AudioWarning} from './sound.js'
export type {SpeechRegion, VoiceActivityDetector, VoiceActivityState} from './voice-activity.js'
