#!/usr/bin/env bash
# ONNX Runtime computes Softplus of equal numbers differently, by their place in the tensor.
#
# Versions: onnxruntime-node 1.30.0, Node.js 20.20.2, Linux x64.
#
# Seen: for a tensor of 21 equal numbers, the results of Softplus are not all equal, for many numbers. Those of Sigmoid and
# of Tanh are. One thread, 32-bit floats.
#
# Consequence: the time steps of a state space layer (Mamba) depend on the position of a token within a run, so a prompt that
# is computed in other pieces gives other logits. Use an operator that computes all places alike.
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
const value = (field, name) =>
  message(field, bytes(1, name), message(2, message(1, integer(1, 1), message(2, message(1, bytes(2, 'n'))))))

/** A model whose only node is an operator without attributes. */
function modelOf(operator) {
  const node = message(1, bytes(1, 'x'), bytes(2, 'y'), bytes(4, operator))
  const graph = message(7, node, bytes(2, 'g'), value(11, 'x'), value(12, 'y'))
  return Buffer.concat([integer(1, 8), graph, message(8, bytes(1, ''), integer(2, 18))])
}

for (const operator of ['Softplus', 'Sigmoid', 'Tanh']) {
  const options = {intraOpNumThreads: 1, interOpNumThreads: 1}
  const session = await ort.InferenceSession.create(modelOf(operator), options)
  let differing = 0
  for (let i = -800; i <= 800; i++) {
    const x = new ort.Tensor('float32', new Float32Array(21).fill(i / 100), [21])
    const {y} = await session.run({x})
    if (new Set(y.data).size > 1) differing++
  }
  console.log(`${operator}: ${differing > 100 ? 'many' : differing > 0 ? 'some' : 'no'} numbers of 1601 with several results`)
}
PROGRAM
seen=$(node show.mjs)
echo "$seen"
expected='Softplus: many numbers of 1601 with several results
Sigmoid: no numbers of 1601 with several results
Tanh: no numbers of 1601 with several results'
[ "$seen" = "$expected" ] || { printf 'Changed: it was\n%s\n' "$expected" && exit 1; }
echo 'As described.'
