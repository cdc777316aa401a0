import {settings} from '../setting.js'
import {baseUrl, boolean, integer, path, text} from '../types.js'

/** Where models are downloaded from, and where to. */
export const hubSettings = settings('hub', () => ({
  hubEndpoint: {
    type: baseUrl(),
    env: ['HF_ENDPOINT'],
    default: 'https://huggingface.co',
    doc: 'Address of the hub that models are downloaded from.',
  },
  hubToken: {
    type: text('a token'),
    env: ['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN'],
    secret: true,
    doc: 'Token of the hub, for models that need one.',
  },
  hubCache: {
    type: path(),
    env: ['SVC_SPEECH_CACHE_DIR', 'HF_HUB_CACHE'],
    toml: ['speech.cache_dir'],
    doc: 'Folder of downloaded models, instead of the one of HF_HOME or ~/.cache/huggingface/hub.',
  },
  offline: {
    type: boolean('lenient'),
    flag: 'offline',
    env: ['SVC_SPEECH_OFFLINE', 'HF_HUB_OFFLINE'],
    toml: ['speech.offline'],
    default: false,
    doc: 'Download nothing.',
  },
  hfRetryAttempts: {
    type: integer({min: 1, clamp: true}),
    env: ['SVC_SPEECH_HF_RETRY_ATTEMPTS'],
    toml: ['speech.hf_retry_attempts'],
    default: 3,
    doc: 'How often a download is tried.',
  },
  hfRetryDelayMs: {
    type: integer({min: 0}),
    env: ['SVC_SPEECH_HF_RETRY_DELAY_MS'],
    toml: ['speech.hf_retry_delay_ms'],
    default: 600,
    doc: 'Milliseconds between two tries of a download.',
  },
}))
