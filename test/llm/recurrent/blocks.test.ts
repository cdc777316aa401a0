import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {deltaNet} from '../../../src/llm/recurrent/delta-net.js'
import {buildRecurrent, type RecurrentSpec} from '../../../src/llm/recurrent/index.js'
import {mamba2} from '../../../src/llm/recurrent/mamba2.js'
import {GraphBuilder, openSession, tensor, type Value} from '../../../src/onnx/index.js'
import {type LayerWeights, referenceDeltaNet, referenceMamba2} from '../../reference/recurrent.js'
import {randomFloats} from '../../support/random-floats.js'

const hiddenSize = 24
const normEps = 1e-5
const positions = 90

interface Block {
  spec: RecurrentSpec
  weights: ReadonlyMap<string, {values: Float32Array; shape: readonly number[]}>
  reference(weights: LayerWeights, inputs: readonly Float32Array[]): Float32Array[]
}

/** Random weights of the shapes that a block asks for. */
function block(spec: RecurrentSpec, reference: Block['reference'], seed: number): Block {
  const random = randomFloats(seed)
  const weights = new Map<string, {values: Float32Array; shape: readonly number[]}>()
  const add = (name: string, shape: readonly number[]) => {
    const size = shape.reduce((product, each) => product * each, 1)
    const scale = name.includes('_proj') && shape.length === 2 ? (shape[1] as number) ** -0.5 : 0.5
    const values = random(size).map((value) => scale * value + (name.endsWith('norm.weight') ? 1 : 0))
    weights.set(name, {values, shape})
    return name as Value
  }
  const states = spec.states.map(({name}) => ({past: name as Value, present: `next_${name}`}))
  // The shapes are recorded while the graph is built with names instead of values.
  buildRecurrent(
    {graph: new GraphBuilder('shapes'), weight: add, project: (_x, {name, shape}) => add(name, shape)},
    spec,
    'x' as Value,
    states,
  )
  return {spec, weights, reference}
}

const delta = {keyHeads: 2, keyDim: 16, valueHeads: 4, valueDim: 12, normEps}
const wide = {keyHeads: 1, keyDim: 64, valueHeads: 1, valueDim: 64, normEps}
const state = {heads: 4, headDim: 10, groups: 2, stateSize: 16, normEps}
const wideState = {heads: 1, headDim: 64, groups: 1, stateSize: 64, normEps}

const noNorms = {norm: undefined, postNorm: undefined}

const deltaNetBlock = (sizes: typeof delta, seed: number) =>
  block(
    deltaNet('layer', noNorms, {hiddenSize, width: 4, ...sizes}),
    (weights, inputs) => referenceDeltaNet(weights, {hiddenSize, epsilon: normEps, ...sizes}, inputs),
    seed,
  )

const mamba2Block = (sizes: typeof state, hasBiases: boolean, seed: number) =>
  block(
    mamba2('layer', noNorms, {hiddenSize, width: 4, hasConvolutionBias: true, hasBiases, ...sizes}),
    (weights, inputs) => referenceMamba2(weights, {hiddenSize, epsilon: normEps, hasBiases, ...sizes}, inputs),
    seed,
  )

/** The runtime computes large memories in another way than small ones. */
const blocks: Readonly<Record<string, Block>> = {
  'Gated DeltaNet': deltaNetBlock(delta, 1),
  'Gated DeltaNet with a large head': deltaNetBlock(wide, 2),
  'Mamba 2': mamba2Block(state, false, 3),
  'Mamba 2 with biases and a large head': mamba2Block(wideState, true, 4),
}

/** A session of a block, which keeps the states of a number of sequences. */
async function open(test: TestContext, {spec, weights}: Block, batch: number) {
  const graph = new GraphBuilder('block')
  const x = graph.input('x', 'float32', ['batch', 'time', hiddenSize])
  const made = new Map<string, Value>()
  const weight = (name: string, shape: readonly number[]) => {
    const {values} = weights.get(name) as {values: Float32Array}
    const value = made.get(name) ?? graph.constant(name, 'float32', shape, values)
    made.set(name, value)
    return value
  }
  const states = spec.states.map(({name, shape}) => ({
    past: graph.input(name, 'float32', ['batch', ...shape]),
    present: `next_${name}`,
  }))
  const out = buildRecurrent(
    {
      graph,
      weight,
      project: (value, {name, shape}) => graph.contrib('FusedMatMul', [value, weight(name, shape)], {transB: 1}),
    },
    spec,
    x,
    states,
  )
  graph.output('out', out, 'float32', ['batch', 'time', hiddenSize])
  const session = await openSession(graph.build({inPlace: true}), {threads: 1})
  test.after(() => session.release())
  const memory = spec.states.map(({name, shape}) => {
    const dims = [batch, ...shape]
    return [name, tensor(new Float32Array(dims.reduce((product, each) => product * each)), dims)] as const
  })
  /** @param rows hidden states of each sequence */
  return async (rows: readonly (readonly Float32Array[])[]): Promise<Float32Array[][]> => {
    const time = rows[0]?.length ?? 0
    const dims = [batch, time, hiddenSize]
    const out = new Float32Array(batch * time * hiddenSize)
    const values = Float32Array.from(rows.flat().flatMap((row) => [...row]))
    await session.runInPlace(
      {x: tensor(values, dims), ...Object.fromEntries(memory)},
      {out: tensor(out, dims), ...Object.fromEntries(memory.map(([name, value]) => [`next_${name}`, value]))},
    )
    const row = (i: number) => out.slice(i * hiddenSize, (i + 1) * hiddenSize)
    return rows.map((_, i) => Array.from({length: time}, (_row, t) => row(i * time + t)))
  }
}

const inputsOf = (seed: number): Float32Array[] => {
  const random = randomFloats(seed)
  return Array.from({length: positions}, () => random(hiddenSize))
}

const largestDifference = (a: readonly Float32Array[], b: readonly Float32Array[]): number => {
  assert.equal(a.length, b.length)
  return Math.max(...a.flatMap((row, i) => [...row].map((value, j) => Math.abs(value - (b[i]?.[j] as number)))))
}

/** A long run, a shorter one, and single positions. */
const runs = [50, 13, 2, ...Array.from({length: positions - 65}, () => 1)]

for (const [name, each] of Object.entries(blocks))
  describe(`the graph of ${name}`, () => {
    const inputs = inputsOf(9)
    const weights: LayerWeights = {
      weight: (part) => (each.weights.get(`layer.${part}`) as {values: Float32Array}).values,
      linear: (part, x, rows) => {
        const {values} = each.weights.get(`layer.${part}`) as {values: Float32Array}
        return new Float32Array(rows).map((_, i) =>
          x.reduce((sum, value, j) => sum + value * (values[i * x.length + j] as number), 0),
        )
      },
    }

    it('computes the recurrence, however the positions are divided into runs', async (test) => {
      const run = await open(test, each, 1)
      const found: Float32Array[] = []
      for (const size of runs) found.push(...((await run([inputs.slice(found.length, found.length + size)]))[0] ?? []))
      const difference = largestDifference(found, each.reference(weights, inputs))
      assert.ok(difference < 1e-4, `largest difference ${difference}`)
      assert.ok(Math.max(...found.flatMap((row) => [...row].map(Math.abs))) > 0.1, 'the outputs are not small')
    })

    it('computes sequences of a batch independently of each other', async (test) => {
      const others = inputsOf(10)
      const [alone, together] = [await open(test, each, 1), await open(test, each, 3)]
      for (const [from, to] of [
        [0, 20],
        [20, 21],
        [21, 22],
      ] as const) {
        const part = inputs.slice(from, to)
        const [expected] = await alone([part])
        const [, found] = await together([others.slice(from, to), part, others.slice(from + 1, to + 1)])
        assert.ok(largestDifference(found ?? [], expected ?? []) < 1e-6)
      }
    })
  })
