import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {ps, readShow, show, tags, version} from '../../../src/serve/ollama/model.js'
import {refusal, servedModel} from '../samples.js'

const details = {
  parent_model: 'acme/small-base',
  format: 'safetensors',
  family: 'qwen2',
  families: ['qwen2'],
  parameter_size: '494.03M',
  quantization_level: 'F32',
}

describe('GET /api/version', () => {
  it('contains no name of a GPU runtime on the CPU', () => {
    const body = JSON.stringify(version('0.1.0', 'cpu'))
    assert.equal(body, '{"version":"0.14.0","server":"svc","server_version":"0.1.0","runtime":"onnxruntime-cpu"}')
    assert.doesNotMatch(body, /cuda|rocm|metal/i)
  })

  it('reports the GPU', () =>
    assert.equal(
      JSON.stringify(version('0.1.0', 'cuda:0')),
      '{"version":"0.14.0","server":"svc","server_version":"0.1.0","runtime":"onnxruntime-cuda","cuda":true,"device":"cuda:0"}',
    ))
})

describe('GET /api/tags', () => {
  it('lists the served model under its exact name', () =>
    assert.deepEqual(tags([servedModel]), {
      models: [
        {
          name: 'my-run',
          model: 'my-run',
          modified_at: '2026-01-05T10:11:12.000Z',
          size: 1_200_340_992,
          digest: 'ab'.repeat(32),
          details,
          capabilities: ['completion'],
        },
      ],
    }))

  it('has an empty parent model if the base model is unknown', () =>
    assert.equal(tags([{...servedModel, baseModel: undefined}]).models[0]?.details.parent_model, ''))

  const sizes: [count: number, text: string][] = [
    [512, '512'],
    [25_300, '25K'],
    [2_000_000, '2M'],
    [494_032_768, '494.03M'],
    [1_543_714_304, '1.5B'],
    [7_000_000_000, '7B'],
  ]
  for (const [count, text] of sizes)
    it(`formats ${count} parameters as ${text}`, () =>
      assert.equal(tags([{...servedModel, parameterCount: count}]).models[0]?.details.parameter_size, text))
})

describe('POST /api/show', () => {
  const asked: [body: object, name: string, verbose: boolean][] = [
    [{model: 'my-run', verbose: true}, 'my-run', true],
    [{name: 'my-run', verbose: null}, 'my-run', false],
    [{model: 'a', name: 'b', verbose: false}, 'a', false],
    [{model: '', name: 'b'}, 'b', false],
  ]
  for (const [body, name, verbose] of asked)
    it(`reads ${name} from ${JSON.stringify(body)}`, () => assert.deepEqual(readShow(body), {name, verbose}))

  const refused: [body: unknown, code: string, sentence: string, param: string | null][] = [
    [{}, 'bad_request', 'model is required', 'model'],
    [{model: ''}, 'bad_request', 'model is required', 'model'],
    [{model: 5}, 'bad_request', 'model must be of type string', 'model'],
    [{name: 5}, 'bad_request', 'name must be of type string', 'name'],
    [{model: 'a', verbose: 1}, 'bad_request', 'verbose must be of type boolean', 'verbose'],
    [undefined, 'body_missing', 'missing request body', null],
  ]
  for (const [body, code, sentence, param] of refused)
    it(`rejects ${JSON.stringify(body)}`, () => assert.throws(() => readShow(body), refusal(code, sentence, param)))

  it('describes the model as specified', () =>
    assert.deepEqual(show(servedModel), {
      license: '',
      modelfile: `FROM acme/small-base
ADAPTER my-run
TEMPLATE """{{ .Prompt }}"""
PARAMETER num_ctx 8192
PARAMETER stop "<|im_end|>"
`,
      parameters: 'num_ctx                        8192\nstop                           "<|im_end|>"',
      template: '{{ .Prompt }}',
      details,
      model_info: {
        'general.architecture': 'qwen2',
        'general.basename': 'my-run',
        'general.parameter_count': 494_032_768,
        'qwen2.context_length': 8192,
        'qwen2.embedding_length': 896,
        'qwen2.block_count': 24,
        'qwen2.attention.head_count': 14,
        'qwen2.attention.head_count_kv': 2,
      },
      capabilities: ['completion'],
      modified_at: '2026-01-05T10:11:12.000Z',
    }))

  it('lists the tensors with verbose', () => {
    const {tensors} = show(servedModel, {verbose: true})
    assert.deepEqual(tensors, [{name: 'model.norm.weight', type: 'F32', shape: [896]}])
    assert.equal('tensors' in show(servedModel), false)
  })

  it('includes the licence and a Modelfile', () => {
    const {license, modelfile} = show({
      ...servedModel,
      baseModel: undefined,
      adapted: false,
      template: '{{ messages }}',
      stop: [],
      license: 'MIT License\n',
      repetitionPenalty: 1.1,
      defaults: {
        system: 'Be brief.',
        stop: ['END'],
        messages: [{role: 'user', content: 'Hi'}],
        parameters: {num_ctx: 4096, temperature: 0.6},
      },
    })
    assert.equal(license, 'MIT License\n')
    assert.equal(
      modelfile,
      `FROM my-run
TEMPLATE """{{ messages }}"""
PARAMETER num_ctx 8192
PARAMETER repeat_penalty 1.1
PARAMETER temperature 0.6
PARAMETER stop "END"
SYSTEM """Be brief."""
MESSAGE user """Hi"""
LICENSE """MIT License
"""
`,
    )
  })

  it('includes the chat template', () =>
    assert.equal(show({...servedModel, template: '{{ messages }}'}).template, '{{ messages }}'))
})

describe('GET /api/ps', () => {
  const entry = {
    name: 'my-run',
    model: 'my-run',
    size: 2_300_000_000,
    digest: 'ab'.repeat(32),
    details,
    context_length: 8192,
  }
  it('returns an empty list if no model is loaded', () => assert.deepEqual(ps([]), {models: []}))

  it('reports when the model will be unloaded', () =>
    assert.deepEqual(ps([{model: servedModel, expiresAt: new Date('2026-01-05T10:16:12.000Z'), device: 'cpu'}]), {
      models: [{...entry, expires_at: '2026-01-05T10:16:12.000+00:00', size_vram: 0}],
    }))

  it('reports a far date for forever, and GPU memory', () =>
    assert.deepEqual(ps([{model: servedModel, expiresAt: 'forever', device: 'cuda:0'}]), {
      models: [{...entry, expires_at: '9000-01-01T00:00:00.000+00:00', size_vram: 2_300_000_000}],
    }))
})
