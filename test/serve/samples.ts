import type {SvcError} from '../../src/errors/index.js'
import type {GenerateSummary, TokenLogprob} from '../../src/llm/index.js'
import type {ServedModel} from '../../src/serve/served-model.js'

/** Defaults of the test server. */
export const defaults = {maxTokens: 512, sampling: {temperature: 0.7}, numCtx: 8192, stop: [], seed: () => 99}

export const servedModel: ServedModel = {
  name: 'my-run',
  folders: ['/runs/my-run'],
  trained: true,
  longestToken: 16,
  baseModel: 'acme/small-base',
  family: 'qwen2',
  parameterCount: 494_032_768,
  bytes: 1_200_340_992,
  memoryBytes: 2_300_000_000,
  digest: 'ab'.repeat(32),
  modifiedAt: new Date('2026-01-05T10:11:12.000Z'),
  format: 'safetensors',
  dtype: 'F32',
  contextLength: 8192,
  embeddingLength: 896,
  blockCount: 24,
  headCount: 14,
  headCountKv: 2,
  template: undefined,
  templateError: undefined,
  abilities: {chat: true, tools: false, thinking: false, insert: false},
  toolNote: undefined,
  stop: ['<|im_end|>'],
  adapted: true,
  license: undefined,
  repetitionPenalty: 1,
  defaults: {parameters: {}},
  tensors: [{name: 'model.norm.weight', dtype: 'F32', shape: [896]}],
}

/** The summary of the specification's examples, with changes. */
export const summaryOf = (changes: Partial<GenerateSummary> = {}): GenerateSummary => ({
  finishReason: 'stop',
  promptTokens: 21,
  cachedTokens: 0,
  completionTokens: 48,
  tokens: [151_644, 872, 198],
  queueMs: 11,
  prefillMs: 210,
  decodeMs: 690,
  ...changes,
})

/** Two tokens; the second is an incomplete character. */
export const logprobs: TokenLogprob[] = [
  {
    token: 'He',
    bytes: [72, 101],
    logprob: -0.12,
    top: [
      {token: 'He', bytes: [72, 101], logprob: -0.12},
      {token: 'A', bytes: [65], logprob: -2.5},
    ],
  },
  {token: '\ufffd', bytes: [0xc3], logprob: -0.5, top: [{token: '\ufffd', bytes: [0xc3], logprob: -0.5}]},
]

/** For `assert.throws`: code, message and `param` of an error. */
export const refusal =
  (code: string, message: string, param: string | null) =>
  (error: SvcError): boolean => {
    const found = {code: error.code, message: error.message, param: error.param, status: error.status}
    const expected = {code, message, param, status: 400}
    if (JSON.stringify(found) === JSON.stringify(expected)) return true
    throw new Error(`expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`)
  }
