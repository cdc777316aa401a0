import {ProtobufWriter} from './protobuf.js'

/** Element types, with their numbers in `TensorProto.DataType` and their sizes in bytes. */
const dataTypes = {
  float32: {number: 1, bytes: 4},
  uint8: {number: 2, bytes: 1},
  int8: {number: 3, bytes: 1},
  int32: {number: 6, bytes: 4},
  int64: {number: 7, bytes: 8},
  bool: {number: 9, bytes: 1},
  float16: {number: 10, bytes: 2},
  bfloat16: {number: 16, bytes: 2},
} as const

export type DataType = keyof typeof dataTypes

export const dataTypeBytes = (type: DataType): number => dataTypes[type].bytes

export const dataTypeNumber = (type: DataType): number => dataTypes[type].number

/** `ir_version` 8 and opset 18 are supported by every runtime in use, and have all required operators. */
const irVersion = 8
const opsets = [
  {domain: '', version: 18},
  {domain: 'com.microsoft', version: 1},
] as const

const attributeType = {float: 1, int: 2, string: 3, floats: 6, ints: 7} as const

export type AttributeValue =
  | number
  | bigint
  | string
  | readonly bigint[]
  | {float: number}
  | {floats: readonly number[]}

/** `AttributeProto`. Numbers are ints; floats are wrapped, because JavaScript does not distinguish 1 from 1.0. */
export function attribute(name: string, value: AttributeValue): ProtobufWriter {
  const writer = new ProtobufWriter().text(1, name)
  if (typeof value === 'string') return writer.text(4, value).integer(20, attributeType.string)
  if (typeof value === 'number' || typeof value === 'bigint')
    return writer.integer(3, value).integer(20, attributeType.int)
  if ('float' in value) return writer.float(2, value.float).integer(20, attributeType.float)
  if ('floats' in value) {
    for (const item of value.floats) writer.float(7, item)
    return writer.integer(20, attributeType.floats)
  }
  for (const item of value) writer.integer(8, item)
  return writer.integer(20, attributeType.ints)
}

/** `ValueInfoProto`; a dimension is a size or the name of one. */
export function valueInfo(name: string, type: DataType, dims: readonly (number | string)[]): ProtobufWriter {
  const shape = new ProtobufWriter()
  for (const dim of dims) {
    const dimension = new ProtobufWriter()
    shape.message(1, typeof dim === 'number' ? dimension.integer(1, dim) : dimension.text(2, dim))
  }
  const tensor = new ProtobufWriter().integer(1, dataTypeNumber(type)).message(2, shape)
  return new ProtobufWriter().text(1, name).message(2, new ProtobufWriter().message(1, tensor))
}

/** `ValueInfoProto` of a sequence of 32-bit floats. */
export function sequenceInfo(name: string): ProtobufWriter {
  const element = new ProtobufWriter().message(1, new ProtobufWriter().integer(1, dataTypeNumber('float32')))
  return new ProtobufWriter()
    .text(1, name)
    .message(2, new ProtobufWriter().message(4, new ProtobufWriter().message(1, element)))
}

/** `TensorProto` without data: shape, type and name. */
export function tensorHead(name: string, type: DataType, dims: readonly number[]): ProtobufWriter {
  const writer = new ProtobufWriter()
  for (const dim of dims) writer.integer(1, dim)
  return writer.integer(2, dataTypeNumber(type)).text(8, name)
}

/** `ModelProto` around a graph. */
export function model(graph: ProtobufWriter): Uint8Array {
  const writer = new ProtobufWriter().integer(1, irVersion).text(2, 'svc').message(7, graph)
  for (const {domain, version} of opsets) writer.message(8, new ProtobufWriter().text(1, domain).integer(2, version))
  return writer.finish()
}
