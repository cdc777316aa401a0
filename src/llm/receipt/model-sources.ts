import {packageVersion} from '../../files/index.js'
import {type Device, largestWeight, runtimeVersion} from '../../onnx/index.js'
import {type Adapter, isBlockEntry, type RunDirectory} from '../../weights/index.js'
import type {Precision} from '../precision.js'
import type {DecoderSpec} from '../spec.js'
import {digestOf} from './receipt.js'
import {type ComputeChoices, type ProvenShape, provenShapeOf, type SameBytes, sameBytes} from './same-bytes.js'

/** Files, and the digest of what else determines a part of a receipt. */
export interface PartSource {
  files: readonly string[]
  rest: string
}

/** What the parts of a receipt are computed from. Large files are not read yet. */
export interface ModelSources {
  base: PartSource
  /** Undefined without an adapter. */
  adapter: PartSource | undefined
  tokenizer: PartSource
  /** Digest of the chat template. */
  template: string
  precision: string
  program: string
  bytes: SameBytes
  /** What was compared byte for byte; undefined if nothing was. */
  proven: ProvenShape | undefined
}

interface OpenedModel {
  directory: RunDirectory
  config: Readonly<Record<string, unknown>>
  spec: DecoderSpec
  precision: Precision
  /** The chat templates in use: the usual one, and the one for tools. */
  templates: readonly (string | undefined)[]
  ends: ReadonlySet<number>
}

/** The sources of a model whose headers have been read. */
export function sourcesOf(
  {directory, config, spec, precision, templates, ends}: OpenedModel,
  choices: ComputeChoices & {device: Device},
): ModelSources {
  const {tensors, adapter, tokenizer, declarations} = directory
  const {device} = choices
  const isFloat = ![...tensors.values()].some(isBlockEntry)
  const proven = device === 'cpu' && isFloat ? provenShapeOf(spec, precision, choices) : undefined
  return {
    base: tensorFiles(
      [...tensors.values()].map(({name, file}) => [name, file]),
      {config, generation: declarations.generation},
    ),
    adapter: adapter === undefined ? undefined : adapterSource(adapter),
    tokenizer: {
      files: [tokenizer],
      rest: digestOf({declared: declarations.tokenizer, ends: [...ends].sort((a, b) => a - b)}),
    },
    template: digestOf(templates),
    precision: precision === 'f32' || largestWeight() === 127 ? precision : `${precision}-7bit`,
    program: `${packageVersion()}+onnxruntime.${runtimeVersion}.${device}`,
    bytes: sameBytes(proven, adapter),
    proven,
  }
}

/** An adapter is its weights, and what its manifest says about them. */
export const adapterSource = ({deltas}: Adapter): PartSource =>
  tensorFiles(
    deltas.flatMap(({a, b}) => [a, b].map(({name, file}) => [name, file] as const)),
    deltas.map(({target, a, b, scale}) => [target, a.name, b.name, scale]),
  )

/** The files in the order of their first tensors, so that their names have no effect, and which tensor is in which. */
function tensorFiles(placed: readonly (readonly [tensor: string, file: string])[], rest: unknown): PartSource {
  const sorted = [...placed].sort(([a], [b]) => (a < b ? -1 : 1))
  const files = [...new Set(sorted.map(([, file]) => file))]
  return {files, rest: digestOf({tensors: sorted.map(([tensor, file]) => [tensor, files.indexOf(file)]), rest})}
}
