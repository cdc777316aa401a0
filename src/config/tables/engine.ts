import {sectionSettings} from '../setting.js'
import {aliasedChoice, boolean, integer, number} from '../types.js'

/** Execution and sampling of language models. */
export const engineSettings = sectionSettings('engine', () => ({
  threads: {
    type: integer({min: 0, max: 256}),
    flag: 'threads',
    group: 'model',
    env: ['SVC_THREADS'],
    default: 0,
    doc: 'Number of compute threads; 0 uses one per physical core.',
  },
  precision: {
    type: aliasedChoice({auto: [], f32: ['fp32', 'float32'], w8: ['int8', 'q8_0'], w4: ['int4', 'q4_0']}),
    flag: 'precision',
    group: 'model',
    env: ['SVC_PRECISION'],
    default: 'auto',
    strict: true,
    doc: 'Precision of the weights: f32, w8 (8 bits) or w4 (mostly 4 bits); auto depends on the model, the processor and the memory.',
  },
  numCtx: {
    type: integer({min: 0}),
    flag: 'num-ctx',
    group: 'model',
    env: ['SVC_NUM_CTX'],
    default: 0,
    doc: 'Context length in tokens; 0 uses the trained context length of the model, but at most 8192.',
  },
  promptLookup: {
    type: boolean('lenient'),
    flag: 'prompt-lookup',
    group: 'generation',
    env: ['SVC_PROMPT_LOOKUP'],
    default: true,
    doc: 'Draft text that occurred before and verify it in one run; it changes only the speed.',
  },
  maxTokens: {
    type: integer({min: 1}),
    flag: 'max-tokens',
    group: 'generation',
    env: ['SVC_MAX_TOKENS'],
    default: 512,
    doc: 'Maximum number of tokens to generate.',
  },
  temperature: {
    type: number({min: 0, max: 2}),
    flag: 'temperature',
    group: 'generation',
    env: ['SVC_TEMPERATURE'],
    default: 0.7,
    doc: 'Sampling temperature; 0 always picks the most likely token.',
  },
  topK: {
    type: integer({min: 0}),
    flag: 'top-k',
    group: 'generation',
    env: ['SVC_TOP_K'],
    default: 40,
    doc: 'Number of most likely tokens to sample from; 0 samples from all.',
  },
  topP: {
    type: number({min: 0, max: 1}),
    flag: 'top-p',
    group: 'generation',
    env: ['SVC_TOP_P'],
    default: 0.9,
    doc: 'Nucleus sampling: sample from the smallest set of tokens whose cumulative probability reaches this value.',
  },
}))
