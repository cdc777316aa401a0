import {sectionSettings} from '../setting.js'
import {aliasedChoice, boolean, choice, either, integer, list, number, path, zeroOr} from '../types.js'

/** Audio processing before recognition. */
export const speechAudioSettings = sectionSettings('speech', () => ({
  channels: {
    type: either(choice('mix', 'split'), integer({min: 1, max: 64})),
    flag: 'channels',
    placeholder: 'mix|split|N',
    env: ['SVC_SPEECH_CHANNELS'],
    default: 'mix',
    doc: 'Channels of recordings: their mix, each one with its own speaker (split), or the one with a number.',
  },
  speakers: {
    type: list(),
    flag: 'speakers',
    placeholder: 'NAME,...',
    env: ['SVC_SPEECH_SPEAKERS'],
    default: [],
    doc: 'Names of the speakers of --channels split, in the order of the channels; default: Channel 1, Channel 2.',
  },
  acousticPreprocess: {
    type: aliasedChoice({none: ['0'], peak_normalize: ['peak', '1'], rms_normalize: ['rms']}),
    flag: 'preprocess',
    env: ['SVC_SPEECH_ACOUSTIC_PREPROCESS'],
    default: 'none',
    doc: 'Loudness normalisation before recognition.',
  },
  acousticPreprocessBudgetMs: {
    type: integer({min: 0}),
    env: ['SVC_SPEECH_ACOUSTIC_PREPROCESS_BUDGET_MS'],
    default: 25,
    doc: 'Time limit for preprocessing, in milliseconds, after which the original audio is used; 0 sets no limit.',
  },
  rmsTargetDbfs: {
    type: number({min: -120, max: 0}),
    env: ['SVC_SPEECH_RMS_TARGET_DBFS'],
    default: -18,
    doc: 'Target loudness of rms_normalize, in dB relative to full scale.',
  },
  vad: {
    type: aliasedChoice({energy: [], neural: [], none: ['passthrough']}),
    flag: 'vad',
    env: ['SVC_SPEECH_VAD'],
    default: 'energy',
    doc: 'Voice activity detector: energy, neural or none.',
  },
  vadEnabled: {
    type: boolean('lenient'),
    env: ['SVC_SPEECH_VAD_ENABLED'],
    default: true,
    doc: 'Detect voice activity; if off, the complete recording counts as speech.',
  },
  vadModel: {
    type: path(),
    flag: 'vad-model',
    env: ['SVC_SPEECH_VAD_MODEL'],
    doc: 'ONNX model file of the neural voice activity detector.',
  },
  vadEnergyThreshold: {
    type: number({min: 0, max: 1}),
    env: ['SVC_SPEECH_VAD_ENERGY_THRESHOLD'],
    default: 0.003,
    doc: 'Minimum RMS amplitude that the energy detector accepts as voice; full scale is 1.',
  },
  vadMergeGapMs: {
    type: integer({min: 0, max: 2 ** 32 - 1}),
    env: ['SVC_SPEECH_VAD_MERGE_GAP_MS'],
    default: 300,
    doc: 'Maximum silence between two stretches of speech that are merged, in milliseconds.',
  },
  chunkSec: {
    type: zeroOr(number({min: 5, max: 28, clamp: true})),
    flag: 'chunk-sec',
    env: ['SVC_SPEECH_CHUNK_SEC'],
    default: 0,
    doc: 'Chunk length for long recordings, 5 to 28 seconds; 0 splits recordings at pauses instead.',
  },
  batch: {
    type: integer({min: 1, max: 32}),
    flag: 'batch',
    env: ['SVC_SPEECH_BATCH'],
    default: 1,
    doc: 'Number of chunks to recognise together, 1 to 32; above 1, no chunk depends on the text before it.',
  },
  chunkOverlapSec: {
    type: number({min: 0}),
    flag: 'chunk-overlap-sec',
    env: ['SVC_SPEECH_CHUNK_OVERLAP_SEC'],
    default: 0.5,
    doc: 'Overlap of adjacent chunks in seconds, at most 40% of the chunk length.',
  },
}))
