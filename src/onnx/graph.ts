import {
  type AttributeValue,
  attribute,
  type DataType,
  dataTypeBytes,
  model,
  sequenceInfo,
  tensorHead,
  valueInfo,
} from './model.js'
import {ProtobufWriter} from './protobuf.js'

declare const valueBrand: unique symbol
/** The name of a tensor inside one graph. */
export type Value = string & {readonly [valueBrand]: true}

/** A size, or the name of a dimension that is known only at run time. */
export type Dimension = number | string

export type Attributes = Readonly<Record<string, AttributeValue>>

const arrays = {float32: Float32Array, int8: Int8Array, uint8: Uint8Array} as const

/** Data of an initialiser in another file; `location` is relative to the session's external folder. */
export interface ExternalData {
  location: string
  /** From the start of the file, bytes. */
  offset: number
  /** Bytes. */
  length: number
}

/** Marks an omitted optional input or output. */
const absent = '' as Value

/** Name of the first output of a graph for `Session.runInPlace`. */
export const inPlaceOutput = 'in_place'

/**
 * Builds one ONNX graph. The methods add nodes and initialisers, and return their values.
 *
 * @example
 *   const graph = new GraphBuilder('double')
 *   const x = graph.input('x', 'float32', ['n'])
 *   graph.output('y', graph.node('Add', [x, x]), 'float32', ['n'])
 *   const bytes = graph.build()
 */
export class GraphBuilder {
  readonly #name: string
  readonly #names = new Set<string>()
  readonly #nodes: ProtobufWriter[] = []
  readonly #initializers: ProtobufWriter[] = []
  readonly #inputs: ProtobufWriter[] = []
  readonly #outputs: ProtobufWriter[] = []

  constructor(name: string) {
    this.#name = name
  }

  input(name: string, type: DataType, dims: readonly Dimension[]): Value {
    this.#inputs.push(valueInfo(name, type, dims))
    return this.#claim(name)
  }

  /** Makes a value a graph output with the given name. */
  output(name: string, value: Value, type: DataType, dims: readonly Dimension[]): void {
    if (value !== name) this.#emit('Identity', [value], [this.#claim(name)], {}, '')
    this.#outputs.push(valueInfo(name, type, dims))
  }

  /**
   * An operator of the default domain whose output is a graph output, without an Identity node that would copy it.
   */
  outputNode(
    name: string,
    op: string,
    inputs: readonly (Value | undefined)[],
    attributes: Attributes,
    type: DataType,
    dims: readonly Dimension[],
  ): void {
    this.#emit(op, inputs, [this.#claim(name)], attributes, '')
    this.#outputs.push(valueInfo(name, type, dims))
  }

  /** An initialiser with inline data. */
  constant(name: string, type: DataType, dims: readonly number[], data: ArrayBufferView): Value {
    this.#checkLength(name, type, dims, data.byteLength)
    const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    this.#initializers.push(tensorHead(name, type, dims).bytes(9, raw))
    return this.#claim(name)
  }

  /** An int64 constant `[values.length]`, such as a shape or axes; equal constants are shared. */
  integers(...values: number[]): Value {
    const name = `integers.${values.join('.')}`
    if (this.#names.has(name)) return name as Value
    return this.constant(name, 'int64', [values.length], BigInt64Array.from(values, BigInt))
  }

  /** An int64 without dimensions, such as an index. */
  integer(value: number): Value {
    const name = `integer.${value}`
    return this.#names.has(name) ? (name as Value) : this.constant(name, 'int64', [], BigInt64Array.of(BigInt(value)))
  }

  /** A 32-bit float, without dimensions. */
  number(value: number): Value {
    return this.filled('float32', [], value)
  }

  /** A constant of equal values; equal constants are shared. */
  filled(type: keyof typeof arrays, dims: readonly number[], value: number): Value {
    const name = `${type}.${dims.join('.')}.${value}`
    if (this.#names.has(name)) return name as Value
    const size = dims.reduce((product, dim) => product * dim, 1)
    return this.constant(name, type, dims, new arrays[type](size).fill(value))
  }

  /** An initialiser that the session maps from a file without copying. */
  external(name: string, type: DataType, dims: readonly number[], {location, offset, length}: ExternalData): Value {
    this.#checkLength(name, type, dims, length)
    const tensor = tensorHead(name, type, dims)
    for (const [key, value] of Object.entries({location, offset: String(offset), length: String(length)}))
      tensor.message(13, new ProtobufWriter().text(1, key).text(2, value))
    this.#initializers.push(tensor.integer(14, 1))
    return this.#claim(name)
  }

  /** An operator of the default domain with one output. */
  node(op: string, inputs: readonly (Value | undefined)[], attributes: Attributes = {}): Value {
    return this.#add(op, inputs, 1, attributes, '')[0] as Value
  }

  /** An operator of the default domain with two outputs. */
  pair(op: string, inputs: readonly (Value | undefined)[], attributes: Attributes = {}): [Value, Value] {
    return this.#add(op, inputs, 2, attributes, '') as [Value, Value]
  }

  /** An operator of the default domain with any number of outputs. */
  several(op: string, inputs: readonly (Value | undefined)[], outputs: number, attributes: Attributes = {}): Value[] {
    return this.#add(op, inputs, outputs, attributes, '')
  }

  /** An operator of ONNX Runtime's own domain, `com.microsoft`, with one output. */
  contrib(op: string, inputs: readonly (Value | undefined)[], attributes: Attributes = {}): Value {
    return this.#add(op, inputs, 1, attributes, 'com.microsoft')[0] as Value
  }

  /**
   * An operator of `com.microsoft` with several outputs. A name makes an output a graph output without an Identity
   * node, so that the runtime can write it to a preallocated tensor. `true` is an internal output, `undefined` an
   * omitted one.
   */
  contribOutputs<const N extends readonly (string | true | undefined)[]>(
    op: string,
    inputs: readonly (Value | undefined)[],
    outputs: N,
    attributes: Attributes = {},
  ): {[K in keyof N]: Value} {
    const values = outputs.map((output) => {
      if (output === undefined) return absent
      return output === true ? this.#fresh(op) : this.#claim(output)
    })
    this.#emit(op, inputs, values, attributes, 'com.microsoft')
    return values as {[K in keyof N]: Value}
  }

  /**
   * The serialised model.
   * @param inPlace adds the output that `Session.runInPlace` needs, an empty sequence
   */
  build({inPlace = false} = {}): Uint8Array {
    const graph = new ProtobufWriter()
    if (inPlace) {
      this.#emit('SequenceEmpty', [], [this.#claim(inPlaceOutput)], {}, '')
      this.#outputs.unshift(sequenceInfo(inPlaceOutput))
    }
    for (const node of this.#nodes) graph.message(1, node)
    graph.text(2, this.#name)
    for (const initializer of this.#initializers) graph.message(5, initializer)
    for (const input of this.#inputs) graph.message(11, input)
    for (const output of this.#outputs) graph.message(12, output)
    return model(graph)
  }

  #add(op: string, inputs: readonly (Value | undefined)[], outputs: number, attributes: Attributes, domain: string) {
    const values = Array.from({length: outputs}, () => this.#fresh(op))
    this.#emit(op, inputs, values, attributes, domain)
    return values
  }

  #emit(
    op: string,
    inputs: readonly (Value | undefined)[],
    outputs: readonly Value[],
    attributes: Attributes,
    domain: string,
  ): void {
    const node = new ProtobufWriter()
    for (const input of inputs) node.text(1, input ?? absent)
    for (const output of outputs) node.text(2, output)
    node.text(4, op)
    for (const [name, value] of Object.entries(attributes)) node.message(5, attribute(name, value))
    if (domain !== '') node.text(7, domain)
    this.#nodes.push(node)
  }

  #fresh(op: string): Value {
    return this.#claim(`${op}_${this.#nodes.length}_${this.#names.size}`)
  }

  /** Rejects a duplicate name: the runtime only warns about it and uses one of the two values. */
  #claim(name: string): Value {
    if (this.#names.has(name)) throw new Error(`The graph ${this.#name} has two values named ${name}.`)
    this.#names.add(name)
    return name as Value
  }

  #checkLength(name: string, type: DataType, dims: readonly number[], length: number): void {
    const expected = dims.reduce((product, dim) => product * dim, dataTypeBytes(type))
    if (expected !== length)
      throw new Error(`The initialiser ${name} has ${length} bytes, but its shape needs ${expected}.`)
  }
}
