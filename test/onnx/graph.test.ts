import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {GraphBuilder} from '../../src/onnx/index.js'
import {ProtobufWriter} from '../../src/onnx/protobuf.js'

const hex = (writer: ProtobufWriter) => Buffer.from(writer.finish()).toString('hex')

describe('ProtobufWriter', () => {
  // The first three are examples from the protobuf documentation.
  const cases: readonly [string, ProtobufWriter, string][] = [
    ['an integer', new ProtobufWriter().integer(1, 150), '089601'],
    ['a string', new ProtobufWriter().text(2, 'testing'), '120774657374696e67'],
    ['a message', new ProtobufWriter().message(3, new ProtobufWriter().integer(1, 150)), '1a03089601'],
    ['zero', new ProtobufWriter().integer(1, 0), '0800'],
    ['a negative integer, in ten bytes', new ProtobufWriter().integer(1, -2), '08feffffffffffffffff01'],
    ['a large integer', new ProtobufWriter().integer(1, 2 ** 53 - 1), '08ffffffffffffff0f'],
    ['a float', new ProtobufWriter().float(2, 1.5), '150000c03f'],
    ['a field above 15', new ProtobufWriter().integer(20, 1), 'a00101'],
  ]
  for (const [name, writer, expected] of cases) it(`writes ${name}`, () => assert.equal(hex(writer), expected))
})

describe('GraphBuilder', () => {
  it('rejects duplicate value names, for which the runtime only logs a warning', () => {
    const graph = new GraphBuilder('twice')
    graph.input('x', 'float32', [1])
    assert.throws(() => graph.constant('x', 'float32', [1], Float32Array.of(1)), /two values named x/)
  })

  it('rejects an initialiser whose size does not match its shape', () => {
    const graph = new GraphBuilder('short')
    assert.throws(() => graph.constant('w', 'float32', [3], Float32Array.of(1, 2)), /8 bytes, but its shape needs 12/)
    assert.throws(
      () => graph.external('e', 'bfloat16', [2, 2], {location: 'f', offset: 0, length: 16}),
      /16 bytes, but its shape needs 8/,
    )
  })
})
