import {sectionSettings} from '../setting.js'
import {aliasedChoice, boolean, integer, number, path, zeroOr} from '../types.js'

/** What is done to a recording before it is recognised. */
export const speechAudioSettings = sectionSettings('speech', () => ({
  acousticPreprocess: {
    type: aliasedChoice({none: ['0'], peak_normalize: ['peak', '1'], rms_normalize: ['rms']}),
    flag: 'preprocess',
    env: ['SVC_SPEECH_ACOUSTIC_PREPROCESS'],
    default: 'none',
    doc: 'How the loudness of a recording is evened out.',
  },
  acousticPreprocessBudgetMs: {
    type: integer({min: 0}),
    env: ['SVC_SPEECH_ACOUSTIC_PREPROCESS_BUDGET_MS'],
    default: 25,
    doc: 'Milliseconds that preprocessing may take before the recording is used as it was; 0 is no limit.',
  },
  rmsTargetDbfs: {
    type: number({min: -120, max: 0}),
    env: ['SVC_SPEECH_RMS_TARGET_DBFS'],
    default: -18,
    doc: 'Loudness that rms_normalize aims at, dB below full scale.',
  },
  vad: {
    type: aliasedChoice({energy: [], neural: [], none: ['passthrough']}),
    flag: 'vad',
    env: ['SVC_SPEECH_VAD'],
    default: 'energy',
    doc: 'How voice is told from silence.',
  },
  vadEnabled: {
    type: boolean('lenient'),
    env: ['SVC_SPEECH_VAD_ENABLED'],
    default: true,
    doc: 'Tell voice from silence at all.',
  },
  vadModel: {
    type: path(),
    flag: 'vad-model',
    env: ['SVC_SPEECH_VAD_MODEL'],
    doc: 'ONNX file of the model that the neural detector runs.',
  },
  vadEnergyThreshold: {
    type: number({min: 0, max: 1}),
    env: ['SVC_SPEECH_VAD_ENERGY_THRESHOLD'],
    default: 0.003,
    doc: 'Root mean square of the samples from which the energy detector hears a voice.',
  },
  vadMergeGapMs: {
    type: integer({min: 0, max: 2 ** 32 - 1}),
    env: ['SVC_SPEECH_VAD_MERGE_GAP_MS'],
    default: 300,
    doc: 'Milliseconds of silence up to which two stretches of voice are one.',
  },
  chunkSec: {
    type: zeroOr(number({min: 5, max: 28, clamp: true})),
    flag: 'chunk-sec',
    env: ['SVC_SPEECH_CHUNK_SEC'],
    default: 0,
    doc: 'Seconds of the chunks into which a long recording is cut, 5 to 28; 0 moves through it at its pauses.',
  },
  chunkOverlapSec: {
    type: number({min: 0}),
    flag: 'chunk-overlap-sec',
    env: ['SVC_SPEECH_CHUNK_OVERLAP_SEC'],
    default: 0.5,
    doc: 'Seconds that two chunks share, at most two fifths of one.',
  },
}))
