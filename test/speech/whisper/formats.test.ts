import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import type {SvcError} from '../../../src/errors/index.js'
import {openSpeechModel} from '../../../src/speech/engine/open-model.js'
import {defaultTranscribeOptions, type WindowResult} from '../../../src/speech/index.js'
import {once} from '../../support/once.js'
import {randomFloats} from '../../support/random-floats.js'
import {lfsPointer} from '../../support/safetensors-file.js'
import {suiteFolder, temporaryFolder} from '../../support/temporary.js'
import {
  ggmlFile,
  ggmlFloats,
  ggmlHalves,
  ggmlTokens,
  writeWhisperExport,
  writeWhisperFolder,
} from '../../support/whisper-files.js'
import {microShape, randomWhisper, type WhisperWeights} from '../../support/whisper-weights.js'

const sound = randomFloats(7)(24_000).map((x) => 0.1 * x)

type Precision = 'auto' | 'f32' | 'int8'

async function withModel<T>(
  path: string,
  folder: string,
  work: (model: Awaited<ReturnType<typeof openSpeechModel>>) => Promise<T>,
  precision: Precision = 'f32',
): Promise<T> {
  const options = {name: 'micro', threads: 1, device: 'cpu', precision, derivedFolder: join(folder, 'derived')} as const
  const model = await openSpeechModel(path, options)
  try {
    return await work(model)
  } finally {
    await model.release()
  }
}

const recognise = (path: string, folder: string, options = {}, precision: Precision = 'f32'): Promise<WindowResult> =>
  withModel(path, folder, (model) => model.recognise(sound, {...defaultTranscribeOptions, ...options}), precision)

const summary = ({segments, alternatives}: WindowResult) => ({
  texts: segments.map(({text}) => text),
  tokens: segments.map(({tokens}) => tokens),
  logprobs: segments.map(({avgLogprob}) => avgLogprob.toFixed(4)),
  alternatives: alternatives.map(({text}) => text),
})

const weights = randomWhisper(microShape, 3)
/** The same weights in safetensors, and what a model of them hears. */
const reference = join(suiteFolder(), 'hf')
before(() => writeWhisperFolder(reference, microShape, weights))
const expected = once(() => recognise(reference, reference))
const beams = {beamSize: 3, alternatives: 3}
const expectedBeams = once(() => recognise(reference, reference, beams))

/** Wide enough for 32 values to a block in every matrix. */
const blockEncodings: Record<string, {type: number; bits: number; offset: boolean}> = {
  q4_0: {type: 2, bits: 4, offset: false},
  q4_1: {type: 3, bits: 4, offset: true},
  q5_0: {type: 6, bits: 5, offset: false},
  q5_1: {type: 7, bits: 5, offset: true},
  q8_0: {type: 8, bits: 8, offset: false},
}

/** Quantises blocks of 32 values the way whisper.cpp lays them out; scales are powers of two, so halves hold them. */
function quantized(values: Float32Array, {bits, offset}: {bits: number; offset: boolean}) {
  const pieces: Buffer[] = []
  const exact = new Float32Array(values.length)
  const half = (power: number) => (power + 15) << 10
  for (let at = 0; at < values.length; at += 32) {
    const block = values.subarray(at, at + 32)
    const largest = Math.max(...block.map(Math.abs))
    const power = Math.ceil(Math.log2(largest)) - (bits - 1)
    const scale = 2 ** power
    const middle = 2 ** (bits - 1)
    const levels = Array.from(block, (x) => Math.max(-middle, Math.min(middle - 1, Math.round(x / scale))))
    for (const [i, level] of levels.entries()) exact[at + i] = level * scale
    const head = Buffer.alloc(offset ? 4 : 2)
    head.writeUInt16LE(half(power), 0)
    // The least value is minus the middle times the scale, which is a power of two as well.
    if (offset) head.writeUInt16LE(0x8000 | half(power + bits - 1), 2)
    pieces.push(head)
    if (bits === 8) pieces.push(Buffer.from(Int8Array.from(levels).buffer))
    else {
      const codes = levels.map((level) => level + middle)
      if (bits === 5) {
        const fifth = Buffer.alloc(4)
        fifth.writeUInt32LE(codes.reduce((word, code, i) => (word | (((code >> 4) & 1) << i)) >>> 0, 0))
        pieces.push(fifth)
      }
      pieces.push(Buffer.from(Array.from({length: 16}, (_, i) => (codes[i]! & 15) | ((codes[i + 16]! & 15) << 4))))
    }
  }
  return {bytes: Buffer.concat(pieces), exact}
}

describe('a whisper.cpp file', () => {
  it('gives the same result as the same weights in safetensors', async (test) => {
    const folder = await temporaryFolder(test)
    const file = join(folder, 'ggml-micro.bin')
    await writeFile(file, ggmlFile(microShape, weights, ggmlTokens, ggmlFloats))
    const result = await recognise(file, folder)
    assert.ok((await expected()).segments.length > 0)
    assert.deepEqual(summary(result), summary(await expected()))
  })

  it('with 16-bit floats gives the same result as 16-bit safetensors', async (test) => {
    const folder = await temporaryFolder(test)
    const matrices = (name: string, dims: readonly number[]) => dims.length === 2 && !name.includes('positions')
    const halves: WhisperWeights = new Map(
      [...weights].map(([name, {shape, data}]) => {
        if (!matrices(name, shape)) return [name, {shape, data}]
        const words = new Uint16Array(ggmlHalves.encode(data).buffer)
        return [name, {shape, data: Float32Array.from(words, halfValue)}]
      }),
    )
    await writeWhisperFolder(join(folder, 'halves'), microShape, halves)
    const file = join(folder, 'ggml-half.bin')
    await writeFile(file, ggmlFile(microShape, weights, ggmlTokens, ggmlHalves))
    assert.deepEqual(summary(await recognise(file, folder)), summary(await recognise(join(folder, 'halves'), folder)))
  })

  for (const [name, {type, bits, offset}] of Object.entries(blockEncodings))
    it(`with ${name} blocks gives the same result as their values`, async (test) => {
      const folder = await temporaryFolder(test)
      const matrix = (file: string, dims: readonly number[]) =>
        dims.length === 2 && dims[1]! % 32 === 0 && !file.includes('positions')
      const exact: WhisperWeights = new Map(
        [...weights].map(([tensor, {shape, data}]) => [
          tensor,
          {shape, data: matrix(tensor, shape) ? quantized(data, {bits, offset}).exact : data},
        ]),
      )
      await writeWhisperFolder(join(folder, 'exact'), microShape, exact)
      const file = join(folder, 'ggml-q.bin')
      const encode = (values: Float32Array) => quantized(values, {bits, offset}).bytes
      await writeFile(file, ggmlFile(microShape, weights, ggmlTokens, {type, encode}))
      assert.deepEqual(summary(await recognise(file, folder)), summary(await recognise(join(folder, 'exact'), folder)))
    })

  it('is converted once', async (test) => {
    const folder = await temporaryFolder(test)
    const file = join(folder, 'ggml-micro.bin')
    await writeFile(file, ggmlFile(microShape, weights, ggmlTokens))
    await recognise(file, folder)
    const {readdir, stat} = await import('node:fs/promises')
    const [made] = await readdir(join(folder, 'derived'))
    const {mtimeMs} = await stat(join(folder, 'derived', made ?? ''))
    await recognise(file, folder)
    assert.deepEqual(await readdir(join(folder, 'derived')), [made])
    assert.equal((await stat(join(folder, 'derived', made ?? ''))).mtimeMs, mtimeMs)
  })

  const damage: Record<string, {change: (file: Buffer) => Buffer; code?: string; reason: RegExp}> = {
    'that ends too soon': {change: (file) => file.subarray(0, file.length - 100), reason: /is truncated/},
    'that is a Git LFS pointer': {
      change: () => Buffer.from(lfsPointer(77)),
      code: 'lfs_pointer',
      reason: /only a Git LFS pointer to a file of 77/,
    },
    'of another format': {
      change: () => Buffer.from('RIFF and something else'),
      reason: /does not start with the magic number/,
    },
    'with a nonsense size': {
      change: (file) => {
        file.writeInt32LE(-5, 12)
        return file
      },
      reason: /hiddenSize is -5/,
    },
    'with a tensor of an unknown type': {
      change: (file) => {
        // Type, three dimensions, name.
        file.writeInt32LE(99, file.indexOf('encoder.conv1.weight') - 16)
        return file
      },
      reason: /tensor encoder\.conv1\.weight has an unknown type/,
    },
  }
  for (const [kind, {change, code = 'model_file_invalid', reason}] of Object.entries(damage))
    it(`${kind} is refused`, async (test) => {
      const folder = await temporaryFolder(test)
      const file = join(folder, 'ggml-bad.bin')
      await writeFile(file, change(ggmlFile(microShape, weights, ggmlTokens)))
      await assert.rejects(recognise(file, folder), (error: SvcError) => {
        assert.equal(error.code, code)
        assert.match(error.message, reason)
        return true
      })
    })
})

function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15))
}

describe('an ONNX export', () => {
  for (const layout of ['merged', 'merged-without-switch', 'split'] as const)
    it(`with a ${layout} decoder gives the same result as the safetensors`, async (test) => {
      const folder = await temporaryFolder(test)
      await writeWhisperExport(folder, microShape, weights, {layout, attentions: false})
      assert.deepEqual(summary(await recognise(folder, folder)), summary(await expected()))
      assert.deepEqual(summary(await recognise(folder, folder, beams)), summary(await expectedBeams()))
    })

  it('supports word timestamps if its decoder outputs the cross-attention', async (test) => {
    const options = {wordTimestamps: true}
    const folder = await temporaryFolder(test)
    const inSafetensors = await recognise(reference, folder, options)
    const path = join(folder, 'export')
    await writeWhisperExport(path, microShape, weights, {layout: 'merged', attentions: true})
    const {segments} = await recognise(path, folder, options)
    const times = (words: (typeof segments)[number]['words']) =>
      words?.map(({word, startSec, endSec}) => [word, startSec.toFixed(2), endSec.toFixed(2)])
    assert.ok((segments[0]?.words?.length ?? 0) > 0)
    assert.deepEqual(times(segments[0]?.words), times(inSafetensors.segments[0]?.words))
  })

  it('without cross-attention reports which files have it', async (test) => {
    const folder = await temporaryFolder(test)
    const path = join(folder, 'export')
    await writeWhisperExport(path, microShape, weights, {layout: 'merged', attentions: false})
    await assert.rejects(recognise(path, folder, {wordTimestamps: true}), {code: 'words_unsupported'})
  })

  it('whose graph is damaged is refused', async (test) => {
    const folder = await temporaryFolder(test)
    const path = join(folder, 'export')
    await writeWhisperExport(path, microShape, weights, {layout: 'merged', attentions: false})
    await writeFile(join(path, 'onnx/encoder_model.onnx'), 'no graph')
    await assert.rejects(recognise(path, folder), {code: 'model_file_invalid'})
  })
})
