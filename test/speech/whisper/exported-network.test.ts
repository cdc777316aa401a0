import assert from 'node:assert/strict'
import {mkdir, readdir, realpath, rename, symlink, writeFile} from 'node:fs/promises'
import {join, relative} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {GraphBuilder} from '../../../src/onnx/index.js'
import {readWhisperConfig} from '../../../src/speech/whisper/config.js'
import {findExport} from '../../../src/speech/whisper/export-files.js'
import {openExportedNetwork} from '../../../src/speech/whisper/exported-network.js'
import {openGraphNetwork} from '../../../src/speech/whisper/graph-network.js'
import type {WhisperNetwork} from '../../../src/speech/whisper/network.js'
import {readShards} from '../../../src/weights/index.js'
import {randomFloats} from '../../support/random-floats.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'
import {allLogits} from '../../support/token-logits.js'
import {type ExportOptions, writeWhisperExport, writeWhisperFolder} from '../../support/whisper-files.js'
import {microShape, randomWhisper, whisperConfig} from '../../support/whisper-weights.js'

const config = readWhisperConfig(whisperConfig(microShape), 'config.json')
const heads = [
  [0, 1],
  [1, 0],
] as const
const options = {threads: 1, device: 'cpu', textTokens: 10, alignmentHeads: heads} as const
const frames = 2 * microShape.audio
const mel = randomFloats(5)(microShape.bins * frames)
const weights = randomWhisper(microShape, 3)

async function openExport(test: TestContext, folder: string): Promise<WhisperNetwork> {
  const files = findExport(folder, 'f32')
  assert.ok(files !== undefined)
  const network = await openExportedNetwork(config, files, options)
  test.after(() => network.release())
  return network
}

/** The same weights on an export and on graphs of the product's own. */
async function openBoth(test: TestContext, choice: ExportOptions) {
  const folder = await temporaryFolder(test)
  await writeWhisperFolder(join(folder, 'hf'), microShape, weights)
  await writeWhisperExport(join(folder, 'export'), microShape, weights, choice)
  const own = await openGraphNetwork(config, await readShards(join(folder, 'hf')), options)
  test.after(() => own.release())
  return {own, exported: await openExport(test, join(folder, 'export'))}
}

function assertClose(actual: Float32Array, expected: Float32Array, what: string): void {
  assert.equal(actual.length, expected.length, what)
  const apart = actual.reduce((most, x, i) => Math.max(most, Math.abs(x - expected[i]!)), 0)
  assert.ok(apart < 2e-4, `${what}: ${apart}`)
}

describe('a decoding on an ONNX export', () => {
  for (const layout of ['merged', 'merged-without-switch', 'split'] as const)
    it(`gives the logits of the safetensors at each step of a beam, with a ${layout} decoder`, async (test) => {
      const {own, exported} = await openBoth(test, {layout, attentions: false})
      const [expected, actual] = [await own.encode(mel, frames), await exported.encode(mel, frames)]
      assert.equal(actual.positions, expected.positions)
      const [a, b] = [actual.decode(), expected.decode()]
      assertClose(
        allLogits(await a.prefill([10, 1, 2], [0, 2])),
        allLogits(await b.prefill([10, 1, 2], [0, 2])),
        'prompt',
      )
      const turns = [
        {sources: [0, 0, 0], tokens: [3, 4, 5]},
        {sources: [2, 0, 0, 1], tokens: [6, 7, 8, 9]},
        {sources: [3, 1], tokens: [1, 1]},
        {sources: [1], tokens: [2]},
        {sources: [0], tokens: [5]},
      ]
      for (const [i, {sources, tokens}] of turns.entries()) {
        a.select(sources)
        b.select(sources)
        assertClose(allLogits(await a.step(tokens)), allLogits(await b.step(tokens)), `step ${i}`)
        assert.deepEqual([a.rows, a.length], [tokens.length, 4 + i])
      }
    })

  it('does not affect other decodings of the same window', async (test) => {
    const {exported} = await openBoth(test, {layout: 'merged', attentions: false})
    const context = await exported.encode(mel, frames)
    const [first, second] = [context.decode(), context.decode()]
    const alone = allLogits(await context.decode().prefill([10, 7], [1]))
    await first.prefill([10, 3], [1])
    first.select([0, 0])
    await first.step([1, 2])
    assert.deepEqual(allLogits(await second.prefill([10, 7], [1])), alone)
  })

  it('returns the cross-attention of the requested heads', async (test) => {
    const {own, exported} = await openBoth(test, {layout: 'merged', attentions: true})
    const tokens = [10, 1, 2, 11]
    const expected = await (await own.encode(mel, frames)).align?.(tokens)
    const actual = await (await exported.encode(mel, frames)).align?.(tokens)
    assert.ok(expected !== undefined && actual !== undefined)
    assert.deepEqual({...actual, weights: 0}, {...expected, weights: 0})
    assertClose(actual.weights, expected.weights, 'weights')
  })
})

describe('the files of an ONNX export', () => {
  const names = (folder: string, files: readonly string[]) =>
    writeFiles(folder, Object.fromEntries(files.map((file) => [file, ''])))
  const suffixed = (suffix: string) =>
    ['encoder_model', 'decoder_model_merged'].map((name) => `onnx/${name}${suffix}.onnx`)
  const chosen = (folder: string, precision: 'auto' | 'f32' | 'int8') => {
    const found = findExport(folder, precision)
    return found && [relative(folder, found.encoder), relative(folder, found.decoder), found.precision]
  }

  it('are those of the requested precision', async (test) => {
    const folder = await temporaryFolder(test)
    await names(folder, [...suffixed(''), ...suffixed('_quantized'), ...suffixed('_fp16'), ...suffixed('_q4')])
    assert.deepEqual(chosen(folder, 'f32'), [...suffixed(''), 'f32'])
    assert.deepEqual(chosen(folder, 'int8'), [...suffixed('_quantized'), 'int8'])
  })

  it('are of the other precision if that is the only one', async (test) => {
    const folder = await temporaryFolder(test)
    await names(folder, suffixed(''))
    assert.deepEqual(chosen(folder, 'int8'), [...suffixed(''), 'f32'])
  })

  it('with 4 bits are never used', async (test) => {
    const folder = await temporaryFolder(test)
    await names(folder, suffixed('_q4'))
    assert.equal(findExport(folder, 'auto'), undefined)
  })

  it('can be next to config.json, and include two decoders', async (test) => {
    const folder = await temporaryFolder(test)
    await names(folder, ['encoder_model.onnx', 'decoder_model.onnx', 'decoder_with_past_model.onnx'])
    assert.equal(findExport(folder, 'f32')?.decoderWithPast, join(folder, 'decoder_with_past_model.onnx'))
  })
})

/** An encoder that gives what is in a second file, whatever it hears; its file and the second one. */
function encoderWithData(): Record<string, Uint8Array> {
  const states = randomFloats(1)(microShape.audio * microShape.size)
  const graph = new GraphBuilder('encoder')
  const dims = [1, microShape.audio, microShape.size] as const
  graph.input('input_features', 'float32', [1, microShape.bins, frames])
  const place = {location: 'encoder_model.onnx_data', offset: 0, length: states.byteLength}
  graph.output('last_hidden_state', graph.external('states', 'float32', dims, place), 'float32', dims)
  return {
    'onnx/encoder_model.onnx': graph.build(),
    'onnx/encoder_model.onnx_data': new Uint8Array(states.buffer),
  }
}

describe('an ONNX export with its weights in a second file', () => {
  async function writeExport(test: TestContext): Promise<string> {
    const folder = await realpath(await temporaryFolder(test))
    await writeWhisperExport(folder, microShape, weights, {layout: 'merged', attentions: false})
    await writeFiles(folder, encoderWithData())
    return folder
  }

  it('finds it next to the graph', async (test) => {
    const network = await openExport(test, await writeExport(test))
    assert.equal((await network.encode(mel, frames)).positions, microShape.audio)
  })

  it('finds it in a cache of symbolic links', async (test) => {
    const folder = await writeExport(test)
    await mkdir(join(folder, 'blobs'))
    for (const [i, name] of (await readdir(join(folder, 'onnx'))).entries()) {
      await rename(join(folder, 'onnx', name), join(folder, `blobs/${i}`))
      await symlink(`../blobs/${i}`, join(folder, 'onnx', name))
    }
    const network = await openExport(test, folder)
    assert.equal((await network.encode(mel, frames)).positions, microShape.audio)
  })

  it('finds it next to the target of a linked graph', async (test) => {
    const folder = await writeExport(test)
    await rename(join(folder, 'onnx'), join(folder, 'elsewhere'))
    await mkdir(join(folder, 'onnx'))
    for (const name of ['encoder_model.onnx', 'decoder_model_merged.onnx'])
      await symlink(`../elsewhere/${name}`, join(folder, 'onnx', name))
    const network = await openExport(test, folder)
    assert.equal((await network.encode(mel, frames)).positions, microShape.audio)
  })

  it('is refused without it', async (test) => {
    const folder = await writeExport(test)
    await writeFile(join(folder, 'onnx/encoder_model.onnx_data'), '')
    await assert.rejects(openExport(test, folder), {code: 'model_file_invalid'})
  })
})
