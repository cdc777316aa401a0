#!/usr/bin/env bash
# The attention of ONNX Runtime ends the process if its optional outputs are omitted.
#
# Versions: onnxruntime-node 1.30.0, Node.js 20.20.2, Linux x64, CPU, one thread.
#
# Seen: GroupQueryAttention can read the keys and values of another layer: they are its past, and its own new ones are empty. Then
# its outputs present_key and present_value have nothing new, and they are optional. A model without them is loaded without a
# message, but its first run ends the process with a segmentation fault. With both outputs, the same inputs give a result.
# This is the form of the layers of Gemma 4 that use the keys and values of earlier ones.
#
# Consequence: a graph must declare both outputs, even where they are not needed. A server has no chance to answer such a request
# with an error.
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
function message(field, ...parts) {
  const whole = Buffer.concat(parts)
  const {length} = whole
  const size = length < 128 ? [length] : [(length & 127) | 128, length >> 7]
  return Buffer.concat([Buffer.of((field << 3) | 2, ...size), whole])
}

const dimension = (size) => message(1, typeof size === 'string' ? bytes(2, size) : integer(1, size))
const value = (field, name, type, ...sizes) =>
  message(field, bytes(1, name), message(2, message(1, integer(1, type), message(2, ...sizes.map(dimension)))))

const [heads, size] = [2, 32]
const [floats, integers] = [1, 6]
const inputs = ['query', 'key', 'value', 'past_key', 'past_value', 'seqlens_k', 'total']
const outputs = process.argv[2] === 'all' ? ['output', 'present_key', 'present_value'] : ['output']
const attribute = (name, number) => message(5, bytes(1, name), integer(3, number), Buffer.of(0xa0, 0x01, 2))
const node = message(
  1,
  ...inputs.map((name) => bytes(1, name)),
  ...outputs.map((name) => bytes(2, name)),
  bytes(4, 'GroupQueryAttention'),
  attribute('num_heads', heads),
  attribute('kv_num_heads', heads),
  bytes(7, 'com.microsoft'),
)
const graph = message(
  7,
  ...[node, bytes(2, 'g')],
  ...['query', 'key', 'value'].map((name) => value(11, name, floats, 1, name, heads * size)),
  ...['past_key', 'past_value'].map((name) => value(11, name, floats, 1, heads, 'past', size)),
  ...[value(11, 'seqlens_k', integers, 1), value(11, 'total', integers, 1)],
  value(12, 'output', floats, 1, 'query', heads * size),
  ...outputs.slice(1).map((name) => value(12, name, floats, 1, heads, 'all', size)),
)
const opset = (domain, version) => message(8, bytes(1, domain), integer(2, version))
const model = Buffer.concat([integer(1, 8), graph, opset('', 18), opset('com.microsoft', 1)])
const session = await ort.InferenceSession.create(model, {intraOpNumThreads: 1, logSeverityLevel: 4})
console.log('loaded')
const [tokens, past] = [3, 5]
const zeros = (...dims) => new ort.Tensor('float32', new Float32Array(dims.reduce((product, dim) => product * dim)), dims)
const count = (number) => new ort.Tensor('int32', Int32Array.of(number), [1])
const [none, cached] = [zeros(1, 0, heads * size), zeros(1, heads, past, size)]
await session.run({
  ...{query: zeros(1, tokens, heads * size), key: none, value: none, past_key: cached, past_value: cached},
  ...{seqlens_k: count(past - 1), total: count(past)},
})
console.log('has run')
PROGRAM
seen=$(
  for outputs in all one; do
    status=0
    said=$(node show.mjs $outputs 2>/dev/null) || status=$?
    echo "$outputs: $(tr '\n' ' ' <<<"$said")status $status"
  done
)
echo "$seen"
expected='all: loaded has run status 0
one: loaded status 139'
[ "$seen" = "$expected" ] || { printf 'Changed: it was\n%s\n' "$expected" && exit 1; }
echo 'As described.'
