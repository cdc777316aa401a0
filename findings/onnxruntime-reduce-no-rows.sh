#!/usr/bin/env bash
# ONNX Runtime does not reduce a tensor without elements over an axis that is counted from the end.
#
# Versions: onnxruntime-node 1.30.0, Node.js 20.20.2, Linux x64.
#
# Seen: ReduceMax and ReduceMean over axis -1 return [0, 48] for an input [0, 48], with `keepdims` 1 and 0. They are specified
# to return [0, 1] and [0], as they do over axis 1, which is the same axis, and for other numbers of rows.
#
# Consequence: a graph that selects rows, of which there may be none, fails in a later node that expects one column, such as
# "Attempting to broadcast an axis by a dimension other than 1. 40 by 48". Count the axis from the start.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --loglevel error --ignore-scripts onnxruntime-node@1.30.0
cat >show.mjs <<'PROGRAM'
import ort from 'onnxruntime-node'

// Fields of protobuf messages: integers below 128, texts and messages.
const integer = (field, value) => Buffer.of(field << 3, value)
const bytes = (field, value) => Buffer.concat([Buffer.of((field << 3) | 2, Buffer.byteLength(value)), Buffer.from(value)])
const message = (field, ...parts) => bytes(field, Buffer.concat(parts))

const dimension = (size) => message(1, typeof size === 'string' ? bytes(2, size) : integer(1, size))
const value = (field, name, ...sizes) =>
  message(field, bytes(1, name), message(2, message(1, integer(1, 1), message(2, ...sizes.map(dimension)))))

/** A model whose only node reduces x [rows, 48] over an axis. */
function modelOf(operator, axis, keepdims) {
  const attribute = (name, type, number) => message(5, bytes(1, name), number, Buffer.of(0xa0, 0x01, type))
  const node = message(
    1,
    ...[bytes(1, 'x'), bytes(1, 'axes'), bytes(2, 'y'), bytes(4, operator)],
    attribute('keepdims', 2, integer(3, keepdims)),
  )
  const data = Buffer.alloc(8)
  data.writeBigInt64LE(BigInt(axis))
  const axes = message(5, integer(1, 1), integer(2, 7), bytes(8, 'axes'), bytes(9, data))
  const outputs = value(12, 'y', ...(keepdims ? ['rows', 'one'] : ['rows']))
  const graph = message(7, node, bytes(2, 'g'), axes, value(11, 'x', 'rows', 48), outputs)
  return Buffer.concat([integer(1, 8), graph, message(8, bytes(1, ''), integer(2, 18))])
}

for (const operator of ['ReduceMax', 'ReduceMean'])
  for (const [axis, keepdims] of [[1, 1], [-1, 1], [-1, 0]]) {
    const session = await ort.InferenceSession.create(modelOf(operator, axis, keepdims), {logSeverityLevel: 4})
    const shapes = []
    for (const rows of [2, 0]) {
      const x = new ort.Tensor('float32', new Float32Array(48 * rows), [rows, 48])
      const {y} = await session.run({x})
      shapes.push(`[${x.dims}] -> [${y.dims}]`)
    }
    console.log(`${operator} axis=${axis} keepdims=${keepdims}: ${shapes.join(', ')}`)
  }
PROGRAM
seen=$(node show.mjs)
echo "$seen"
expected='ReduceMax axis=1 keepdims=1: [2,48] -> [2,1], [0,48] -> [0,1]
ReduceMax axis=-1 keepdims=1: [2,48] -> [2,1], [0,48] -> [0,48]
ReduceMax axis=-1 keepdims=0: [2,48] -> [2], [0,48] -> [0,48]
ReduceMean axis=1 keepdims=1: [2,48] -> [2,1], [0,48] -> [0,1]
ReduceMean axis=-1 keepdims=1: [2,48] -> [2,1], [0,48] -> [0,48]
ReduceMean axis=-1 keepdims=0: [2,48] -> [2], [0,48] -> [0,48]'
[ "$seen" = "$expected" ] || { printf 'Changed: it was\n%s\n' "$expected" && exit 1; }
echo 'As described.'
