import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {GraphBuilder, openSession, type Tensor, tensor} from '../../../src/onnx/index.js'
import type {WhisperConfig} from '../../../src/speech/whisper/config.js'
import {crossNames, crossStates} from '../../../src/speech/whisper/cross-states.js'
import type {TensorMap} from '../../../src/weights/index.js'
import {randomFloats} from '../../support/random-floats.js'

const [heads, headDim, positions, windows, rows] = [3, 16, 300, 2, 5]
const hidden = heads * headDim
const part = {layers: 1, heads, ffnSize: 1}
const config: WhisperConfig = {
  file: '',
  hiddenSize: hidden,
  encoder: part,
  decoder: part,
  vocabSize: 1,
  melBins: 1,
  audioPositions: positions,
  textPositions: 1,
}
const representations: Record<'floats' | 'bytes', TensorMap> = {
  floats: new Map(),
  bytes: new Map([['model.decoder.layers.0.encoder_attn.q_proj.weight.blocks', {} as never]]),
}

async function run(t: TestContext, graph: GraphBuilder, feeds: Record<string, Tensor>, names: readonly string[]) {
  const session = await openSession(graph.build(), {threads: 1})
  t.after(() => session.release())
  return session.run(feeds, Object.fromEntries(names.map((name) => [name, null])))
}

/** Cross-attention of `queries` `[windows, heads, rows, head_dim]`. */
async function attend(
  t: TestContext,
  tensors: TensorMap,
  states: readonly {key: Float32Array; value: Float32Array}[],
  queries: Float32Array,
): Promise<{weights: Float32Array; means: Float32Array}> {
  const encoder = new GraphBuilder('encoder')
  const input = (name: string) => encoder.input(name, 'float32', ['positions', hidden])
  crossStates(encoder, config, tensors).output(0, input('key'), input('value'))
  const names = crossNames(0, tensors)
  const encoded: Record<string, Tensor>[] = []
  for (const one of states) {
    const feeds = {
      key: tensor(one.key, [positions, hidden]),
      value: tensor(one.value, [positions, hidden]),
    }
    encoded.push(await run(t, encoder, feeds, names))
  }
  const decoder = new GraphBuilder('decoder')
  const query = decoder.input('query', 'float32', ['windows', heads, 'rows', headDim])
  const cross = crossStates(decoder, config, tensors).input(0)
  const weights = decoder.node('Softmax', [cross.scores(query)], {axis: -1})
  decoder.output('weights', weights, 'float32', ['windows', heads, 'rows', 'positions'])
  decoder.output('means', cross.mean(weights), 'float32', ['windows', heads, 'rows', headDim])
  const joined = names.map((name) => {
    const parts = encoded.map((one) => one[name]!)
    const {data, dims} = parts[0]!
    const all = new (data.constructor as Float32ArrayConstructor)(parts.length * data.length)
    for (const [i, one] of parts.entries()) all.set(one.data as Float32Array, i * data.length)
    return [name, tensor(all, [parts.length, ...dims])] as const
  })
  const feeds = {...Object.fromEntries(joined), query: tensor(queries, [windows, heads, rows, headDim])}
  const outputs = await run(t, decoder, feeds, ['weights', 'means'])
  return {weights: outputs.weights!.data as Float32Array, means: outputs.means!.data as Float32Array}
}

const largest = (values: Float32Array) => values.reduce((most, x) => Math.max(most, Math.abs(x)), 0)
const difference = (a: Float32Array, b: Float32Array) => a.map((x, i) => x - b[i]!)

/** Largest minus smallest value of each channel of `[positions, hidden]`. */
const ranges = (state: Float32Array) =>
  Array.from({length: hidden}, (_, channel) => {
    const values = state.filter((_, i) => i % hidden === channel)
    return Math.max(...values) - Math.min(...values)
  })

describe('cross-attention with bytes', () => {
  it('has the weights and means of that with floats, for sharp and for flat attention', async (t) => {
    const random = randomFloats(7)
    // Channels far from zero, much larger ones, and one of equal values.
    const channel = (x: number, i: number) =>
      i % hidden === 3 ? 40 + x : i % hidden === 5 ? 2 : i % hidden === 9 ? 3 * x : x
    const state = () => random(positions * hidden).map(channel)
    const states = Array.from({length: windows}, () => ({key: state(), value: state()}))
    const spans = states.map(({value}) => ranges(value))
    for (const scale of [0, 0.02, 0.3]) {
      const queries = random(windows * heads * rows * headDim).map((x) => scale * x)
      const floats = await attend(t, representations.floats, states, queries)
      const bytes = await attend(t, representations.bytes, states, queries)
      assert.ok(largest(floats.weights) > 1 / positions)
      assert.ok(largest(difference(bytes.weights, floats.weights)) <= 0.02 * largest(floats.weights))
      for (const [i, error] of difference(bytes.means, floats.means).entries()) {
        const window = Math.floor(i / (hidden * rows))
        const channel = headDim * (Math.floor(i / (headDim * rows)) % heads) + (i % headDim)
        assert.ok(Math.abs(error) <= spans[window]![channel]! / 100 + 1e-5, `${channel}: ${error}`)
      }
    }
  })
})
