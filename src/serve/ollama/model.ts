import {SvcError} from '../../errors/index.js'
import {Fields} from '../body.js'
import type {EffectiveDevice, ServedModel} from '../served-model.js'

/**
 * What clients take for the version of the server: dotted numbers, the level of the API that they may expect. From
 * 0.13.3 on they may expect `/v1/responses`.
 */
const compatibility = '0.12.0'

/**
 * `GET /api/version`. Clients look for the names of GPU runtimes anywhere in it, so on the CPU none may occur, not
 * even as a key.
 */
export const version = (product: string, device: EffectiveDevice) => ({
  version: compatibility,
  server: 'svc',
  server_version: product,
  ...(device === 'cpu' ? {runtime: 'onnxruntime-cpu'} : {runtime: 'onnxruntime-cuda', cuda: true, device}),
})

/** What the model can do, in the words of the dialect. */
const capabilities = ['completion']

/** `GET /api/tags` */
export const tags = (models: readonly ServedModel[]) => ({
  models: models.map((model) => ({
    name: model.name,
    model: model.name,
    modified_at: model.modifiedAt.toISOString(),
    size: model.bytes,
    digest: model.digest,
    details: details(model),
    capabilities,
  })),
})

/**
 * The model that `POST /api/show` asks for, and whether its tensors are to be listed.
 * @throws bad_request, body_missing
 */
export function readShow(body: unknown): {name: string; verbose: boolean} {
  const fields = Fields.ofBody(body)
  const verbose = fields.boolean('verbose') === true
  const name = fields.string('model') || fields.string('name')
  if (!name) throw new SvcError('bad_request', {reason: 'model is required', param: 'model'})
  return {name, verbose}
}

/** `POST /api/show` */
export const show = (model: ServedModel, {verbose = false} = {}) => ({
  license: model.license ?? '',
  modelfile: modelfile(model),
  parameters: parameters(model)
    .map(([key, value]) => `${key.padEnd(30)} ${JSON.stringify(value)}`)
    .join('\n'),
  template: templateOf(model),
  details: details(model),
  model_info: {
    'general.architecture': model.family,
    'general.basename': model.name,
    'general.parameter_count': model.parameterCount,
    [`${model.family}.context_length`]: model.contextLength,
    [`${model.family}.embedding_length`]: model.embeddingLength,
    [`${model.family}.block_count`]: model.blockCount,
    [`${model.family}.attention.head_count`]: model.headCount,
    [`${model.family}.attention.head_count_kv`]: model.headCountKv,
  },
  ...(verbose ? {tensors: model.tensors.map(({name, dtype, shape}) => ({name, type: dtype, shape}))} : {}),
  capabilities,
  modified_at: model.modifiedAt.toISOString(),
})

const templateOf = ({template}: ServedModel) => template ?? '{{ .Prompt }}'

/** What the server goes by where a request says nothing else. */
const parameters = ({contextLength, stop}: ServedModel): (readonly [key: string, value: string | number])[] => [
  ['num_ctx', contextLength],
  ...stop.map((text) => ['stop', text] as const),
]

/** Names of parameters that differ from those of `generation_config.json`. */
const parameterNames: Readonly<Record<string, string>> = {repetition_penalty: 'repeat_penalty'}

/** The model as a Modelfile describes it; sampling that it recommends is a comment, since requests or flags set it. */
function modelfile(model: ServedModel): string {
  const {name, baseModel, adapted, license, recommended} = model
  const line = ([key, value]: readonly [string, string | number]) => `PARAMETER ${key} ${JSON.stringify(value)}`
  const lines = [
    `FROM ${baseModel ?? name}`,
    ...(adapted ? [`ADAPTER ${name}`] : []),
    `TEMPLATE """${templateOf(model)}"""`,
    ...parameters(model).map(line),
    ...Object.entries(recommended).map(
      ([key, value]) => `# generation_config.json recommends: ${line([parameterNames[key] ?? key, value])}`,
    ),
    ...(license === undefined ? [] : [`LICENSE """${license}"""`]),
  ]
  return `${lines.join('\n')}\n`
}

export interface LoadedModel {
  model: ServedModel
  expiresAt: Date | 'forever'
  device: EffectiveDevice
}

/** `GET /api/ps` */
export const ps = (loaded: readonly LoadedModel[]) => ({
  models: loaded.map(({model, expiresAt, device}) => ({
    name: model.name,
    model: model.name,
    size: model.bytes,
    digest: model.digest,
    details: details(model),
    // An offset in digits: Python before 3.11 cannot read a Z. Years end at 9999 there.
    expires_at:
      expiresAt === 'forever' ? '9000-01-01T00:00:00.000+00:00' : expiresAt.toISOString().replace('Z', '+00:00'),
    size_vram: device === 'cpu' ? 0 : model.bytes,
    context_length: model.contextLength,
  })),
})

const details = (model: ServedModel) => ({
  parent_model: model.baseModel ?? '',
  format: 'safetensors',
  family: model.family,
  families: [model.family],
  parameter_size: parameterSize(model.parameterCount),
  quantization_level: model.dtype,
})

/** `494.03M`, `1.5B`, `7B`: as Ollama writes them. */
function parameterSize(count: number): string {
  if (count >= 1e9) return `${decimals(count / 1e9, 1)}B`
  if (count >= 1e6) return `${decimals(count / 1e6, 2)}M`
  if (count >= 1e3) return `${decimals(count / 1e3, 0)}K`
  return String(count)
}

const decimals = (value: number, digits: number) => value.toFixed(Number.isInteger(value) ? 0 : digits)
