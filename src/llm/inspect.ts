import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {isErrorOf, SvcError} from '../errors/index.js'
import {obtainableMemory} from '../onnx/index.js'
import {
  elements,
  isBlockEntry,
  type ModelDefaults,
  openRunDirectory,
  type RunDirectory,
  type RunLookup,
  type TensorMap,
} from '../weights/index.js'
import {abilitiesOf, capabilitiesOf} from './abilities.js'
import {siteGroups, sitesOf} from './adapters/sites.js'
import {buildDecoderGraph} from './decoder-graph.js'
import {readDecoderSpec} from './families/index.js'
import {describeModel} from './model-description.js'
import {readModelText} from './model-text.js'
import {choosePrecision, memoryOf, type Precision, precisions} from './precision.js'
import type {DecoderSpec} from './spec.js'
import {type WeightType, weightTypes} from './weight-types.js'

/** What is known of a model before it is loaded. */
export interface Inspection {
  path: string | undefined
  /** `model_type` of its configuration. */
  family: string | undefined
  /** Size of the files with weights. */
  bytes: number | undefined
  parameterCount: number | undefined
  contextLength: number | undefined
  dtype: string | undefined
  /** Of a GGUF file: its types of weights. */
  types: WeightType[]
  adapted: boolean
  /** Names of what it can do; none if it cannot be loaded. */
  capabilities: ReturnType<typeof capabilitiesOf>
  /** Memory that the weights need, and whether that is available on this machine. */
  precisions: {precision: Precision; bytes: number; fits: boolean}[]
  /** What `auto` chooses; undefined if the weights do not fit with any precision. */
  precision: Precision | undefined
  /** How it is used unless a request says otherwise. */
  defaults: ModelDefaults | undefined
  /** Identifier of the licence in the model card, or the first line of the licence file. */
  license: string | undefined
  /** What prevents that it is loaded. */
  problems: SvcError[]
}

/** Positions in the rotary tables of the graph that is only built. */
const shortContext = 16

/**
 * Reads the configuration, the tokenizer and the headers of the weights of a model, and collects everything that is not
 * supported. Loads no weights.
 * @param model path of the directory, or id of a model in the local Hugging Face cache
 * @param memory available, bytes
 */
export async function inspectModel(
  model: string,
  lookup: RunLookup = {},
  memory = obtainableMemory(),
): Promise<Inspection> {
  const problems: SvcError[] = []
  const attempt = async <T>(work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      problems.push(SvcError.from(error))
      return undefined
    }
  }
  const directory = await attempt(() => openRunDirectory(model, lookup))
  if (directory === undefined) return {...unknown, problems}
  const declared = await attempt(() => directory.readConfig())
  const config: Readonly<Record<string, unknown>> = {
    ...declared,
    ...(directory.untied ? {tie_word_embeddings: false} : {}),
  }
  const spec = declared && readSpec(config, directory, lookup.ignoreConfigKeys ?? [], problems)
  const text = declared && (await attempt(() => readModelText(directory, config)))
  if (text?.template?.error !== undefined) problems.push(text.template.error)
  const {tensors, adapter} = directory
  if (spec !== undefined) {
    await attempt(() => buildDecoderGraph(spec, asFloats(tensors), shortContext))
    if (adapter !== undefined) await attempt(() => sitesOf(siteGroups(spec), adapter, tensors))
  }
  const types = (await attempt(() => typesOf(tensors))) ?? []
  const described = spec && (await attempt(() => describeModel(directory, spec)))
  const {parameterCount} = described ?? {}
  const needs = precisions.map((precision) => {
    const bytes = memoryOf(tensors, precision)
    return {precision, bytes, fits: bytes <= memory}
  })
  const chosen = choosePrecision('auto', tensors, 'cpu', memory)
  return {
    path: directory.path,
    family: described?.family ?? (typeof config.model_type === 'string' ? config.model_type : undefined),
    bytes: described?.bytes,
    parameterCount,
    contextLength: spec?.contextLength,
    dtype: described?.dtype,
    types,
    adapted: adapter !== undefined,
    capabilities: text === undefined || problems.length > 0 ? [] : capabilitiesOf(abilitiesOf(text)),
    precisions: parameterCount === undefined ? [] : needs,
    precision: needs.find(({precision}) => precision === chosen)?.fits ? chosen : undefined,
    defaults: directory.defaults,
    license: (await readLicense(directory.path)) ?? (await readLicense(directory.basePath)) ?? directory.licenseName,
    problems,
  }
}

/** The graph that is only built needs no integers of GGUF files. */
const asFloats = (tensors: TensorMap): TensorMap =>
  new Map(
    [...tensors].map(([name, entry]) => [
      name,
      isBlockEntry(entry) ? {...entry, dtype: 'F32', length: 4 * elements(entry.shape)} : entry,
    ]),
  )

const unknown: Omit<Inspection, 'problems'> = {
  path: undefined,
  family: undefined,
  bytes: undefined,
  parameterCount: undefined,
  contextLength: undefined,
  dtype: undefined,
  types: [],
  adapted: false,
  capabilities: [],
  precisions: [],
  precision: undefined,
  defaults: undefined,
  license: undefined,
}

/** The types of weights in a GGUF file; none for other models. */
const typesOf = async (tensors: TensorMap): Promise<WeightType[]> =>
  [...tensors.values()].some(isBlockEntry) ? weightTypes(tensors, 'w8') : []

/** The architecture; undefined if it cannot be read. All unknown keys are collected, not only the first one. */
function readSpec(
  config: Readonly<Record<string, unknown>>,
  directory: RunDirectory,
  ignored: readonly string[],
  problems: SvcError[],
): DecoderSpec | undefined {
  try {
    return readDecoderSpec(config, directory.config, (tensor) => directory.tensors.has(tensor), ignored)
  } catch (error) {
    problems.push(SvcError.from(error))
    if (!isErrorOf(error, 'model_config_unsupported') || error.params.isKnown) return undefined
    return readSpec(config, directory, [...ignored, error.params.key], problems)
  }
}

/** The licence of a model, from its card or its licence file; undefined if it has neither. */
export async function readLicense(folder: string): Promise<string | undefined> {
  const card = await readFile(join(folder, 'README.md'), 'utf8').catch(() => '')
  const [, header = ''] = /^---\r?\n(.*?)\r?\n---/s.exec(card) ?? []
  const [, named] = /^license: *["']?([^"'\s]+)["']? *$/m.exec(header) ?? []
  if (named !== undefined) return named
  for (const name of ['LICENSE', 'LICENSE.txt', 'LICENSE.md']) {
    const file = await readFile(join(folder, name), 'utf8').catch(() => '')
    const line = file.split('\n').find((each) => each.trim() !== '')
    if (line !== undefined) return line.trim().slice(0, maxLine)
  }
  return undefined
}

/** Maximum length of a line of a licence file, characters. */
const maxLine = 100
