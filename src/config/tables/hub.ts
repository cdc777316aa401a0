import {settings} from '../setting.js'
import {baseUrl, boolean, integer, path, text} from '../types.js'

/** Model downloads and the directory that they are stored in. */
export const hubSettings = settings('hub', () => ({
  hubEndpoint: {
    type: baseUrl(),
    env: ['HF_ENDPOINT'],
    default: 'https://huggingface.co',
    doc: 'Base URL of Hugging Face, or of a mirror, for model downloads.',
  },
  hubToken: {
    type: text('a token'),
    env: ['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN'],
    secret: true,
    doc: 'Hugging Face access token, for models that require one.',
  },
  hubCache: {
    type: path(),
    env: ['SVC_SPEECH_CACHE_DIR', 'HF_HUB_CACHE'],
    toml: ['speech.cache_dir'],
    doc: 'Directory for downloaded models; default: hub/ in HF_HOME or in ~/.cache/huggingface.',
  },
  offline: {
    type: boolean('lenient'),
    flag: 'offline',
    group: 'model',
    env: ['SVC_SPEECH_OFFLINE', 'HF_HUB_OFFLINE'],
    toml: ['speech.offline'],
    default: false,
    doc: 'Use only models that are already on disk; download nothing.',
  },
  hfRetryAttempts: {
    type: integer({min: 1, clamp: true}),
    env: ['SVC_SPEECH_HF_RETRY_ATTEMPTS'],
    toml: ['speech.hf_retry_attempts'],
    default: 3,
    doc: 'Maximum number of attempts per download.',
  },
  hfRetryDelayMs: {
    type: integer({min: 0}),
    env: ['SVC_SPEECH_HF_RETRY_DELAY_MS'],
    toml: ['speech.hf_retry_delay_ms'],
    default: 600,
    doc: 'Minimum delay between two download attempts, in milliseconds.',
  },
}))
