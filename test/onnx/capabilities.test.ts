import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {mkdir, symlink, writeFile} from 'node:fs/promises'
import {createRequire} from 'node:module'
import {dirname, join} from 'node:path'
import {describe, it} from 'node:test'
import {type Attributes, GraphBuilder, openSession, type Tensor, tensor, type Value} from '../../src/onnx/index.js'
import {projectFile} from '../support/project.js'
import {temporaryFolder} from '../support/temporary.js'

/**
 * Behaviour of the pinned onnxruntime-node release that the engine depends on. After an upgrade, check each failure: the
 * design may need to change.
 */
const version = '1.30.0'

const float32 = (...values: number[]) => tensor(Float32Array.from(values), [values.length])

describe(`onnxruntime-node ${version}`, () => {
  it('is both the pinned and the installed release', () => {
    const manifest = JSON.parse(readFileSync(projectFile('package.json'), 'utf8'))
    assert.equal(manifest.dependencies['onnxruntime-node'], version)
    assert.equal(createRequire(import.meta.url)('onnxruntime-node/package.json').version, version)
  })

  it('writes a preallocated output in place, and copies it to the result', async () => {
    const graph = new GraphBuilder('double')
    const x = graph.input('x', 'float32', ['n'])
    graph.output('y', graph.node('Add', [x, x]), 'float32', ['n'])
    const session = await openSession(graph.build(), {threads: 1})
    const output = float32(0, 0)
    const {y} = await session.run({x: float32(1, 2)}, {y: output})
    await session.release()
    assert.deepEqual([...(output.data as Float32Array)], [2, 4], 'the output is written in place')
    assert.notEqual(y.data, output.data, 'the result is a copy; otherwise runInPlace would be unnecessary')
  })

  it('writes outputs after a sequence in place, and rejects the sequence before it copies them', async () => {
    const graph = new GraphBuilder('double')
    const x = graph.input('x', 'float32', ['n'])
    graph.output('y', graph.node('Add', [x, x]), 'float32', ['n'])
    const session = await openSession(graph.build({inPlace: true}), {threads: 1})
    const output = float32(0, 0)
    const sequence = session.outputs[0]?.name as string
    // Without `null`, the binding does not ask the runtime for this output.
    const fetches: Record<string, Tensor | null> = {[sequence]: null, y: output}
    await assert.rejects(
      session.run({x: float32(1, 2)}, fetches),
      /^Error: Non tensor type is temporarily not supported/,
    )
    assert.deepEqual([...(output.data as Float32Array)], [2, 4])
    await session.runInPlace({x: float32(3, 4)}, {y: output})
    assert.deepEqual([...(output.data as Float32Array)], [6, 8])
    await assert.rejects(session.runInPlace({x: float32(3)}, {y: output}), 'other errors are reported')
    await session.release()
  })

  it('has the variable that disables the tiled form of attention', async () => {
    const bindings = join(dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json')), 'bin')
    const libraries = readdirSync(bindings, {recursive: true, encoding: 'utf8'}).filter(
      (name) => name.includes(join(process.platform, process.arch)) && /onnxruntime[.\d]*\.(so|dll|dylib)/.test(name),
    )
    assert.ok(libraries.some((name) => readFileSync(join(bindings, name)).includes('ORT_GQA_DISABLE_FLASH_ATTENTION')))
  })

  describe('external initialisers', () => {
    const bytes = Buffer.from(Float32Array.of(9, 1, 2, 3).buffer)

    async function sum(folder: string, location: string): Promise<number[]> {
      const graph = new GraphBuilder('external')
      const x = graph.input('x', 'float32', [3])
      const w = graph.external('w', 'float32', [3], {location, offset: 4, length: 12})
      graph.output('y', graph.node('Add', [x, w]), 'float32', [3])
      const session = await openSession(graph.build(), {threads: 1, externalFolder: folder})
      const {y} = await session.run({x: float32(10, 20, 30)}, {y: null})
      await session.release()
      return [...(y.data as Float32Array)]
    }

    it('are read from a file in the external folder, at any offset', async (test) => {
      const folder = await temporaryFolder(test)
      await writeFile(join(folder, 'w.bin'), bytes)
      assert.deepEqual(await sum(folder, 'w.bin'), [11, 22, 33])
    })

    it('are read from a subfolder', async (test) => {
      const folder = await temporaryFolder(test)
      await mkdir(join(folder, 'deep/er'), {recursive: true})
      await writeFile(join(folder, 'deep/er/w.bin'), bytes)
      assert.deepEqual(await sum(folder, 'deep/er/w.bin'), [11, 22, 33])
    })

    it('are rejected through a symbolic link out of the folder, and through ..', async (test) => {
      const folder = await temporaryFolder(test)
      await mkdir(join(folder, 'model'))
      await writeFile(join(folder, 'w.bin'), bytes)
      await symlink('../w.bin', join(folder, 'model/link.bin'))
      await assert.rejects(sum(join(folder, 'model'), 'link.bin'), /escapes/)
      await assert.rejects(sum(join(folder, 'model'), '../w.bin'), /escapes/)
    })
  })

  describe('operators', () => {
    type Build = (graph: GraphBuilder, x: Value) => Value
    const constant = (graph: GraphBuilder, name: string, ...values: number[]) =>
      graph.constant(name, 'float32', [values.length], Float32Array.from(values))
    const cases: Record<string, {build: Build; x: number[]; y: number[]}> = {
      'SimplifiedLayerNormalization is the RMS norm': {
        x: [3, 4],
        y: [3 / Math.sqrt(12.5), 8 / Math.sqrt(12.5)],
        build: (graph, x) =>
          graph.node('SimplifiedLayerNormalization', [x, constant(graph, 'scale', 1, 2)], {
            axis: -1,
            epsilon: {float: 0},
          }),
      },
      'FusedMatMul with transB accepts weights in the layout of a shard': {
        x: [1, 2],
        y: [5, 11],
        build: (graph, x) =>
          graph.contrib('FusedMatMul', [x, graph.constant('w', 'float32', [2, 2], Float32Array.of(1, 2, 3, 4))], {
            transB: 1,
          }),
      },
      'QuickGelu with alpha 1 is x * sigmoid(x)': {
        x: [1, -2],
        y: [1 / (1 + Math.exp(-1)), -2 / (1 + Math.exp(2))],
        build: (graph, x) => graph.contrib('QuickGelu', [x], {alpha: {float: 1}} satisfies Attributes),
      },
      'RotaryEmbedding rotates the halves of a head by the angle of its position': {
        x: [3, 4],
        y: [3 * 0.6 - 4 * 0.8, 4 * 0.6 + 3 * 0.8],
        build: (graph, x) => {
          const table = (name: string, ...values: number[]) =>
            graph.constant(name, 'float32', [2, 1], Float32Array.from(values))
          const heads = graph.node('Reshape', [x, graph.constant('s3', 'int64', [3], BigInt64Array.of(1n, 1n, 2n))])
          const position = graph.constant('position', 'int64', [1, 1], BigInt64Array.of(1n))
          const tables = [table('cos', 1, 0.6), table('sin', 0, 0.8)]
          const turned = graph.contrib('RotaryEmbedding', [heads, position, ...tables], {num_heads: 1})
          return graph.node('Reshape', [turned, graph.constant('s2', 'int64', [2], BigInt64Array.of(1n, 2n))])
        },
      },
      'Cast widens bfloat16': {
        x: [1, 1],
        y: [2, 1.5],
        build: (graph, x) => {
          const half = graph.constant('half', 'bfloat16', [2], Uint16Array.of(0x3f80, 0x3f00))
          return graph.node('Add', [x, graph.node('Cast', [half], {to: 1})])
        },
      },
    }
    for (const [name, {build, x, y}] of Object.entries(cases))
      it(name, async () => {
        const graph = new GraphBuilder('operator')
        const input = graph.input('x', 'float32', [1, 2])
        graph.output('y', build(graph, input), 'float32', [1, 2])
        const session = await openSession(graph.build(), {threads: 1})
        const outputs = await session.run({x: tensor(Float32Array.from(x), [1, 2])}, {y: null})
        await session.release()
        const actual = [...(outputs.y.data as Float32Array)]
        for (const [i, value] of y.entries()) assert.ok(Math.abs((actual[i] as number) - value) < 1e-6, `${actual}`)
      })

    it('GroupQueryAttention writes keys and values to the memory of the past', async () => {
      const graph = new GraphBuilder('attention')
      const dims = ['batch', 1, 'capacity', 8]
      const qkv = graph.input('qkv', 'float32', ['batch', 'time', 8])
      const past = [graph.input('past_key', 'float32', dims), graph.input('past_value', 'float32', dims)]
      const lengths = [graph.input('last_index', 'int32', ['batch']), graph.input('total_length', 'int32', [1])]
      const [y, key, value] = graph.contribOutputs(
        'GroupQueryAttention',
        [qkv, qkv, qkv, ...past, ...lengths],
        ['y', 'present_key', 'present_value'],
        {num_heads: 1, kv_num_heads: 1},
      )
      graph.output('y', y, 'float32', ['batch', 'time', 8])
      graph.output('present_key', key, 'float32', dims)
      graph.output('present_value', value, 'float32', dims)
      const session = await openSession(graph.build(), {threads: 1})
      const cache = () => tensor(new Float32Array(4 * 8), [1, 1, 4, 8])
      const [keys, values] = [cache(), cache()]
      const fetches = {y: null, present_key: keys, present_value: values}
      for (let position = 0; position < 2; position++) {
        const feeds = {
          qkv: tensor(new Float32Array(8).fill(position + 1), [1, 1, 8]),
          past_key: keys,
          past_value: values,
          last_index: tensor(Int32Array.of(position), [1]),
          total_length: tensor(Int32Array.of(position + 1), [1]),
        }
        await session.run(feeds, fetches)
      }
      await session.release()
      const firsts = [0, 1, 2, 3].map((position) => (keys.data as Float32Array)[position * 8])
      assert.deepEqual(firsts, [1, 2, 0, 0])
    })
  })
})
