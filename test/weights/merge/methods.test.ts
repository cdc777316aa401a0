import assert from 'node:assert/strict'
import {createHash} from 'node:crypto'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {type MergeMethodChoice, type MergeRequest, mergeAdapter} from '../../../src/weights/index.js'
import {type ReadTensor, readTensors} from '../../support/read-tensors.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'
import {type TinyAdapter, tinyAdapterFiles, tinyModelFiles} from '../../support/tiny-model.js'

const target = 'model.layers.0.self_attn.q_proj.weight'

/** Different ranks, alphas, formats and targets; PEFT scales by the root of the rank. */
const adapters: readonly (Partial<TinyAdapter> & {weight: number})[] = [
  {rank: 4, alpha: 8, head: false, weight: 0.75},
  {rank: 6, alpha: 3, form: 'peft-rs', head: false, seed: 10, weight: -0.5},
  {rank: 2, alpha: 2, form: 'v2', head: true, seed: 11, weight: 1.25},
]

async function inputs(test: TestContext): Promise<string> {
  const cwd = await temporaryFolder(test)
  await writeFiles(join(cwd, 'base'), tinyModelFiles({layout: 'single'}))
  for (const [i, {weight: _, ...adapter}] of adapters.entries())
    await writeFiles(join(cwd, `run${i}`), tinyAdapterFiles({}, adapter))
  return cwd
}

const request = (cwd: string, method: MergeMethodChoice, changes: Partial<MergeRequest> = {}): MergeRequest => {
  const [first, ...others] = adapters.map(({weight}, i) => ({path: `run${i}`, weight}))
  return {
    source: {base: {folder: 'base'}, adapter: first!.path, weight: first!.weight, meta: undefined, others, cwd},
    method,
    output: `${method.name}.safetensors`,
    full: false,
    dtype: undefined,
    untie: false,
    overwrite: true,
    ...changes,
  }
}

/** The update of each adapter for a tensor, by element, without its weight. */
async function deltasOf(cwd: string, name: string): Promise<(number[] | undefined)[]> {
  return Promise.all(
    adapters.map(async ({rank = 4, alpha = 8, form = 'v3'}, i) => {
      const file = form.startsWith('peft') ? 'adapter_model.safetensors' : 'candle_qlora_adapter.safetensors'
      const tensors = await readTensors(join(cwd, `run${i}`, file))
      const [, layer, module] = /layers\.(\d+)\.\w+\.(\w+)_proj/.exec(name) ?? []
      const logical = layer === undefined ? 'lm_head' : `l${layer}.${module}`
      const path = name.replace('.weight', '')
      const find = (half: string) =>
        Object.entries(tensors).find(
          ([key]) => key.startsWith(`${logical}.lora_${half}`) || key.includes(`${path}.lora_${half.toUpperCase()}`),
        )?.[1]
      const [a, b] = [find('a'), find('b')]
      if (a === undefined || b === undefined) return undefined
      const scale = Math.fround(form === 'peft-rs' ? alpha / Math.sqrt(rank) : alpha / rank)
      return product(b, a, rank).map((value) => scale * value)
    }),
  )
}

function product(b: ReadTensor, a: ReadTensor, rank: number): number[] {
  const [rows = 0, columns = 0] = [b.shape[0], a.shape[1]]
  return Array.from({length: rows * columns}, (_, at) => {
    const [row, column] = [Math.floor(at / columns), at % columns]
    let sum = 0
    for (let k = 0; k < rank; k++) sum += b.values[row * rank + k]! * a.values[k * columns + column]!
    return sum
  })
}

/** The definition of the paper, on complete updates. */
function ties(deltas: readonly number[][], weights: readonly number[], density: number): number[] {
  const trimmed = deltas.map((delta) => {
    const sizes = delta.map((value) => Math.fround(Math.abs(value))).sort((x, y) => y - x)
    const smallest = sizes[Math.max(1, Math.round(density * delta.length)) - 1]!
    return delta.map((value) => (Math.fround(Math.abs(value)) >= smallest ? value : 0))
  })
  return (deltas[0] as number[]).map((_, at) => {
    const values = trimmed.map((delta, i) => weights[i]! * delta[at]!)
    const sign = Math.sign(values.reduce((sum, value) => sum + value, 0))
    const agreeing = values.filter((value) => sign !== 0 && Math.sign(value) === sign)
    return agreeing.length === 0 ? 0 : agreeing.reduce((sum, value) => sum + value, 0) / agreeing.length
  })
}

const linear = (deltas: readonly number[][], weights: readonly number[]): number[] =>
  (deltas[0] as number[]).map((_, at) => deltas.reduce((sum, delta, i) => sum + weights[i]! * delta[at]!, 0))

const stepsOf = (right: number, stored: number) =>
  Math.abs(right - stored) / 2 ** (Math.max(-126, Math.floor(Math.log2(Math.abs(right)))) - 23)

const choices: readonly [MergeMethodChoice, (deltas: readonly number[][], weights: readonly number[]) => number[]][] = [
  [{name: 'linear', density: 1, seed: 0}, linear],
  [{name: 'ties', density: 0.3, seed: 0}, (deltas, weights) => ties(deltas, weights, 0.3)],
  [{name: 'ties', density: 1, seed: 0}, (deltas, weights) => ties(deltas, weights, 1)],
  [{name: 'dare', density: 1, seed: 5}, linear],
]

describe('a merge of several adapters', () => {
  for (const [method, reference] of choices)
    it(`is the ${method.name} combination of their updates, with density ${method.density}`, async (test) => {
      const cwd = await inputs(test)
      const {changed, adapters: count, method: name} = await mergeAdapter(request(cwd, method))
      assert.deepEqual([changed, count, name], [15, 3, method.name])
      const base = await readTensors(join(cwd, 'base/model.safetensors'))
      const merged = await readTensors(join(cwd, `${method.name}.safetensors`))
      for (const [tensor, {values}] of Object.entries(merged)) {
        const found = await deltasOf(cwd, tensor)
        const updating = found.flatMap((delta, i) =>
          delta === undefined ? [] : [{delta, weight: adapters[i]!.weight}],
        )
        assert.equal(updating.length, tensor === 'lm_head.weight' ? 1 : 3, tensor)
        const expected = reference(
          updating.map(({delta}) => delta),
          updating.map(({weight}) => weight),
        )
        const furthest = Math.max(
          ...expected.map((delta, at) => stepsOf(base[tensor]!.values[at]! + delta, values[at]!)),
        )
        assert.ok(furthest < 0.51, `${tensor} is ${furthest} steps away`)
      }
    })

  it('with dare keeps the part of the elements that the density says, scaled up, by the seed', async (test) => {
    const cwd = await inputs(test)
    const density = 0.25
    const valuesOf = async (seed: number, output: string) => {
      await mergeAdapter(request(cwd, {name: 'dare', density, seed}, {output}))
      return (await readTensors(join(cwd, output)))[target]!.values
    }
    const one = await valuesOf(1, 'one.safetensors')
    assert.deepEqual(await valuesOf(1, 'again.safetensors'), one)
    assert.notDeepEqual(await valuesOf(2, 'two.safetensors'), one)
    const base = (await readTensors(join(cwd, 'base/model.safetensors')))[target]!.values
    const deltas = (await deltasOf(cwd, target)) as number[][]
    const kept = [0, 0, 0]
    for (const [at, value] of one.entries()) {
      const subsets = Array.from({length: 8}, (_, set) => {
        const sum = deltas.reduce(
          (total, delta, i) => total + (set & (1 << i) ? (adapters[i]!.weight * delta[at]!) / density : 0),
          0,
        )
        return {set, steps: stepsOf(base[at]! + sum, value)}
      })
      const {set, steps} = subsets.reduce((best, each) => (each.steps < best.steps ? each : best))
      assert.ok(steps < 0.51, `element ${at}`)
      for (const i of kept.keys()) kept[i]! += (set >> i) & 1
    }
    for (const count of kept) assert.ok(Math.abs(count / one.length - density) < 0.04, `${count} of ${one.length}`)
  })

  it('records the method, the weights and the digests of all files', async (test) => {
    const cwd = await inputs(test)
    await mergeAdapter(request(cwd, {name: 'dare', density: 0.5, seed: 9}, {full: true, output: 'out'}))
    const sha256 = async (file: string) =>
      createHash('sha256')
        .update(await readFile(join(cwd, file)))
        .digest('hex')
    const recipe = JSON.parse(await readFile(join(cwd, 'out/merge_recipe.json'), 'utf8'))
    const {method, density, seed, base, adapters: merged} = recipe
    assert.deepEqual({method, density, seed}, {method: 'dare', density: 0.5, seed: 9})
    assert.deepEqual(base.files, [{name: 'model.safetensors', sha256: await sha256('base/model.safetensors')}])
    assert.deepEqual(
      merged.map(({name, weight, rank, sha256: digest}: Record<string, unknown>) => [name, weight, rank, digest]),
      [
        ['candle_qlora_adapter.safetensors', 0.75, 4, await sha256('run0/candle_qlora_adapter.safetensors')],
        ['adapter_model.safetensors', -0.5, 6, await sha256('run1/adapter_model.safetensors')],
        ['candle_qlora_adapter.safetensors', 1.25, 2, await sha256('run2/candle_qlora_adapter.safetensors')],
      ],
    )
    const card = await readFile(join(cwd, 'out/README.md'), 'utf8')
    assert.match(card, /Method: dare, density 0\.5, seed 9\./)
    assert.match(card, /\| adapter_model\.safetensors \| -0\.5 \| 6 \|/)
  })

  it('refuses an adapter whose shapes are not those of the base', async (test) => {
    const cwd = await inputs(test)
    await writeFiles(join(cwd, 'wide'), tinyAdapterFiles({hiddenSize: 64}, {}))
    const {source, ...others} = request(cwd, {name: 'linear', density: 1, seed: 0})
    const wide = {...source, others: [{path: 'wide', weight: 1}]}
    await assert.rejects(mergeAdapter({...others, source: wide}), {code: 'adapter_mismatch'})
  })
})
