/** Audio decoding, down-mixing, resampling, log-mel features and voice activity detection. */
export type {AudioStream} from './audio-stream.js'
export {type EnergyVadOptions, energyVad} from './energy-vad.js'
export {hopLength, logMel} from './log-mel.js'
export {isVadModel, type NeuralVadOptions, neuralVad, type VadModel} from './neural-vad.js'
export {type AudioInput, isAudioFile, openAudio, type RawPcm} from './open-audio.js'

export {type PreprocessMode, type PreprocessOptions, preprocess} from './preprocess.js'
export {resampler} from './resample.js'
export type {AudioWarning} from './sound.js'
export type {SpeechRegion, VoiceActivityDetector} from './voice-activity.js'
