import {SvcError} from '../../errors/index.js'
import {capabilitiesOf} from '../../llm/index.js'
import {definedEntries, Fields} from '../body.js'
import type {EffectiveDevice, ServedModel} from '../served-model.js'

/**
 * The Ollama version that clients see: dotted numbers that determine the API level they expect. From 0.13.4 on, Codex expects
 * `/v1/responses`; from 0.14.0 on, clients expect `/v1/messages`.
 */
const compatibility = '0.14.0'

/**
 * `GET /api/version`. Clients search the complete body for names of GPU runtimes, so on the CPU none may occur, not even
 * as a key.
 */
export const version = (product: string, device: EffectiveDevice) => ({
  version: compatibility,
  server: 'svc',
  server_version: product,
  ...(device === 'cpu' ? {runtime: 'onnxruntime-cpu'} : {runtime: 'onnxruntime-cuda', cuda: true, device}),
})

/** The capabilities of a model for which Ollama has names, which are the same. */
const ollamaCapabilities = ({abilities}: ServedModel): readonly string[] => capabilitiesOf({...abilities, chat: false})

/** `GET /api/tags` */
export const tags = (models: readonly ServedModel[]) => ({
  models: models.map((model) => ({
    name: model.name,
    model: model.name,
    modified_at: model.modifiedAt.toISOString(),
    size: model.bytes,
    digest: model.digest,
    details: details(model),
    capabilities: ollamaCapabilities(model),
  })),
})

/**
 * Reads the body of `POST /api/show`; `verbose` requests the list of tensors.
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
  ...definedEntries({system: model.defaults.system, messages: model.defaults.messages}),
  ...(model.templateError === undefined ? {} : {template_error: SvcError.fromRecord(model.templateError).message}),
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
  capabilities: ollamaCapabilities(model),
  ...(model.toolNote === undefined ? {} : {tools_note: model.toolNote}),
  modified_at: model.modifiedAt.toISOString(),
})

const templateOf = ({template}: ServedModel) => template ?? '{{ .Prompt }}'

/** Defaults for omitted fields of a request. */
function parameters({
  contextLength,
  stop,
  repetitionPenalty,
  defaults,
}: ServedModel): (readonly [key: string, value: string | number])[] {
  const {num_ctx: _, ...declared} = defaults.parameters
  const all = {...(repetitionPenalty === 1 ? {} : {repeat_penalty: repetitionPenalty}), ...declared}
  return [
    ['num_ctx', contextLength],
    ...Object.entries(all),
    ...[...stop, ...(defaults.stop ?? [])].map((text) => ['stop', text] as const),
  ]
}

/** Describes the model as a Modelfile. */
function modelfile(model: ServedModel): string {
  const {name, baseModel, adapted, license, defaults} = model
  const line = ([key, value]: readonly [string, string | number]) => `PARAMETER ${key} ${JSON.stringify(value)}`
  const lines = [
    `FROM ${baseModel ?? name}`,
    ...(adapted ? [`ADAPTER ${name}`] : []),
    `TEMPLATE """${templateOf(model)}"""`,
    ...parameters(model).map(line),
    ...(defaults.system === undefined ? [] : [`SYSTEM """${defaults.system}"""`]),
    ...(defaults.messages ?? []).map(({role, content}) => `MESSAGE ${role} """${content}"""`),
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
    size: model.memoryBytes,
    digest: model.digest,
    details: details(model),
    // A numeric offset, because Python before 3.11 does not parse Z. Its maximum year is 9999.
    expires_at:
      expiresAt === 'forever' ? '9000-01-01T00:00:00.000+00:00' : expiresAt.toISOString().replace('Z', '+00:00'),
    size_vram: device === 'cpu' ? 0 : model.memoryBytes,
    context_length: model.contextLength,
  })),
})

const details = (model: ServedModel) => ({
  parent_model: model.baseModel ?? '',
  format: model.format,
  family: model.family,
  families: [model.family],
  parameter_size: parameterSize(model.parameterCount),
  quantization_level: model.dtype,
})

/** `494.03M`, `1.5B`, `7B`: Ollama's format. */
function parameterSize(count: number): string {
  if (count >= 1e9) return `${decimals(count / 1e9, 1)}B`
  if (count >= 1e6) return `${decimals(count / 1e6, 2)}M`
  if (count >= 1e3) return `${decimals(count / 1e3, 0)}K`
  return String(count)
}

const decimals = (value: number, digits: number) => value.toFixed(Number.isInteger(value) ? 0 : digits)
