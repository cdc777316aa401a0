#!/usr/bin/env bash
# The attention of ONNX Runtime rounds a single new token differently from several.
#
# Versions: onnxruntime-node 1.30.0, Node.js 20.20.2, Linux x64, CPU, one thread.
#
# Seen: GroupQueryAttention computes the output for token 300 of a sequence. If this token alone is new and 299 are in the cache,
# the last bits differ from those of a run in which the last 2, 3 or 8 tokens are new. All of the latter are equal, bit for
# bit. The inputs for the token and for all tokens before it are the same.
#
# Consequence: a model whose replies are computed token by token has other bits than one that verifies drafts, or that reads the
# last tokens of a prompt together. With rounded weights the difference grows, because rounded inputs of products may fall on the
# other side of a step. Equal bytes can be promised only where no run mixes both, for example without drafts.
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
const outputs = ['output', 'present_key', 'present_value']
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
  ...['query', 'key', 'value'].map((name) => value(11, name, floats, 1, 'tokens', heads * size)),
  ...['past_key', 'past_value'].map((name) => value(11, name, floats, 1, heads, 'past', size)),
  ...[value(11, 'seqlens_k', integers, 1), value(11, 'total', integers, 1)],
  value(12, 'output', floats, 1, 'tokens', heads * size),
  ...['present_key', 'present_value'].map((name) => value(12, name, floats, 1, heads, 'all', size)),
)
const opset = (domain, version) => message(8, bytes(1, domain), integer(2, version))
const model = Buffer.concat([integer(1, 8), graph, opset('', 18), opset('com.microsoft', 1)])
const session = await ort.InferenceSession.create(model, {intraOpNumThreads: 1, logSeverityLevel: 4})

const length = 300
/** Queries, keys or values of all tokens: [token][head][size]. */
const values = (seed) => Float32Array.from({length: length * heads * size}, (_, i) => Math.sin(seed * (i + 1)))
const [query, key, content] = [values(0.37), values(0.73), values(1.31)]

/** The output for the last token, when the last `tokens` are new and the others are in the cache. */
async function last(tokens) {
  const past = length - tokens
  const fresh = (all) => new ort.Tensor('float32', all.slice(past * heads * size), [1, tokens, heads * size])
  const cached = (all) => {
    const data = new Float32Array(heads * past * size)
    for (let h = 0; h < heads; h++)
      for (let t = 0; t < past; t++)
        data.set(all.subarray((t * heads + h) * size, (t * heads + h + 1) * size), (h * past + t) * size)
    return new ort.Tensor('float32', data, [1, heads, past, size])
  }
  const count = (number) => new ort.Tensor('int32', Int32Array.of(number), [1])
  const {output} = await session.run({
    ...{query: fresh(query), key: fresh(key), value: fresh(content)},
    ...{past_key: cached(key), past_value: cached(content), seqlens_k: count(length - 1), total: count(length)},
  })
  return output.data.slice(-heads * size)
}

const reference = await last(2)
for (const tokens of [1, 2, 3, 8]) {
  const found = await last(tokens)
  const largest = Math.max(...found.map((x, i) => Math.abs(x - reference[i])))
  console.log(`${tokens} new: ${largest === 0 ? 'the same bytes as with 2 new' : `differs, by less than ${largest < 1e-6 ? '1e-6' : largest}`}`)
}
PROGRAM
seen=$(node show.mjs)
echo "$seen"
expected='1 new: differs, by less than 1e-6
2 new: the same bytes as with 2 new
3 new: the same bytes as with 2 new
8 new: the same bytes as with 2 new'
[ "$seen" = "$expected" ] || { printf 'Changed: it was\n%s\n' "$expected" && exit 1; }
echo 'As described.'
