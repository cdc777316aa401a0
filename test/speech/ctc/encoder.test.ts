import assert from 'node:assert/strict'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {logMel} from '../../../src/audio/index.js'
import {GraphBuilder, openSession, tensor} from '../../../src/onnx/index.js'
import {type CtcLayer, readCtcConfig} from '../../../src/speech/ctc/config.js'
import {buildCtcGraph} from '../../../src/speech/ctc/encoder-graph.js'
import {openSpeechModel} from '../../../src/speech/engine/open-model.js'
import {defaultTranscribeOptions} from '../../../src/speech/index.js'
import {readTensorMap} from '../../../src/weights/index.js'
import {randomFloats} from '../../support/random-floats.js'
import {floatBytes, safetensorsFile} from '../../support/safetensors-file.js'
import {svc} from '../../support/svc.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'
import {monoWave} from '../../support/wave-file.js'

type Weights = Map<string, {shape: number[]; data: Float32Array}>
/** `[frames][channels]`. */
type Frames = number[][]

const bins = 80
const layers = [
  {type: 'conv1d', name: 'conv', channels: 6, kernel: 5, stride: 2, activation: 'gelu'},
  {type: 'batch_norm', name: 'bn', activation: 'relu'},
  {
    type: 'residual',
    layers: [
      {type: 'conv1d', name: 'depth', channels: 6, kernel: 3, groups: 6, dilation: 2},
      {type: 'layer_norm', name: 'ln', activation: 'silu'},
    ],
  },
  {type: 'gru', name: 'gru', hidden: 4, bidirectional: true},
  {type: 'linear', name: 'head', channels: 7},
]
const config = (changes: object = {}) => ({
  model_type: 'ctc',
  languages: ['en'],
  features: {type: 'log_mel', bins},
  layers,
  ...changes,
})
const tokens = ['<pad>', '|', 'a', 'b', 'c', 'd', 'e']
const vocabulary = (list: readonly string[]) => JSON.stringify(Object.fromEntries(list.map((token, id) => [token, id])))

function randomWeights(seed = 1): Weights {
  const random = randomFloats(seed)
  const weights: Weights = new Map()
  const add = (name: string, shape: number[], scale = 0.5, base = 0) => {
    const count = shape.reduce((product, dim) => product * dim, 1)
    weights.set(name, {shape, data: random(count).map((x) => base + scale * x)})
  }
  add('conv.weight', [6, bins, 5], 0.1)
  add('conv.bias', [6])
  for (const name of ['bn.weight', 'bn.bias', 'bn.running_mean']) add(name, [6])
  add('bn.running_var', [6], 0, 1.5)
  add('depth.weight', [6, 1, 3])
  add('depth.bias', [6])
  add('ln.weight', [6])
  add('ln.bias', [6])
  for (const end of ['', '_reverse']) {
    add(`gru.weight_ih_l0${end}`, [12, 6])
    add(`gru.weight_hh_l0${end}`, [12, 4])
    add(`gru.bias_ih_l0${end}`, [12])
    add(`gru.bias_hh_l0${end}`, [12])
  }
  add('head.weight', [7, 8], 1)
  add('head.bias', [7])
  return weights
}

/** The same layers in plain arithmetic. */
function reference(input: Frames, weights: Weights): Frames {
  const get = (name: string) => (weights.get(name) as {data: Float32Array}).data
  const conv = (
    x: Frames,
    name: string,
    out: number,
    kernel: number,
    stride: number,
    dilation: number,
    groups: number,
  ) => {
    const [w, b] = [get(`${name}.weight`), get(`${name}.bias`)]
    const inputs = x[0]?.length ?? 0
    const perGroup = inputs / groups
    const before = Math.floor((dilation * (kernel - 1)) / 2)
    return Array.from({length: Math.floor((x.length - 1) / stride) + 1}, (_, t) =>
      Array.from({length: out}, (_, o) => {
        const group = Math.floor(o / (out / groups))
        let sum = b[o]!
        for (let i = 0; i < perGroup; i++)
          for (let k = 0; k < kernel; k++)
            sum +=
              w[(o * perGroup + i) * kernel + k]! * (x[t * stride + k * dilation - before]?.[group * perGroup + i] ?? 0)
        return sum
      }),
    )
  }
  const map = (x: Frames, f: (value: number, channel: number) => number) => x.map((row) => row.map(f))
  const sigmoid = (v: number) => 1 / (1 + Math.exp(-v))
  let x = map(conv(input, 'conv', 6, 5, 2, 1, 1), (v) => 0.5 * v * (1 + erf(v / Math.SQRT2)))
  const [mean, variance] = [get('bn.running_mean'), get('bn.running_var')]
  x = map(x, (v, c) =>
    Math.max(0, ((v - mean[c]!) / Math.sqrt(variance[c]! + 1e-5)) * get('bn.weight')[c]! + get('bn.bias')[c]!),
  )
  const inner = conv(x, 'depth', 6, 3, 1, 2, 6).map((row) => {
    const m = row.reduce((a, b) => a + b) / row.length
    const s = Math.sqrt(row.reduce((a, b) => a + (b - m) ** 2, 0) / row.length + 1e-5)
    return row.map((v, c) => ((v - m) / s) * get('ln.weight')[c]! + get('ln.bias')[c]!).map((v) => v * sigmoid(v))
  })
  x = x.map((row, t) => row.map((v, c) => v + inner[t]![c]!))
  const gru = (rows: Frames, end: string) => {
    const product = (name: string, v: readonly number[], row: number) =>
      v.reduce((sum, value, i) => sum + get(`gru.weight_${name}_l0${end}`)[row * v.length + i]! * value, 0) +
      get(`gru.bias_${name}_l0${end}`)[row]!
    let h = [0, 0, 0, 0]
    return rows.map((row) => {
      h = h.map((before, j) => {
        const r = sigmoid(product('ih', row, j) + product('hh', h, j))
        const z = sigmoid(product('ih', row, 4 + j) + product('hh', h, 4 + j))
        const n = Math.tanh(product('ih', row, 8 + j) + r * product('hh', h, 8 + j))
        return (1 - z) * n + z * before
      })
      return h
    })
  }
  const forward = gru(x, '')
  const backward = gru([...x].reverse(), '_reverse').reverse()
  const both = forward.map((row, t) => [...row, ...backward[t]!])
  return both.map((row) =>
    Array.from({length: 7}, (_, o) =>
      row.reduce((sum, v, i) => sum + get('head.weight')[o * 8 + i]! * v, get('head.bias')[o]!),
    ),
  )
}

/** Source: Abramowitz and Stegun 7.1.26 is too rough here, so by its series. */
function erf(x: number): number {
  let term = x
  let sum = x
  for (let n = 1; n < 60; n++) {
    term *= (-x * x) / n
    sum += term / (2 * n + 1)
  }
  return (2 / Math.sqrt(Math.PI)) * sum
}

async function writeModel(
  folder: string,
  changes: Record<string, string | Uint8Array> = {},
  weights = randomWeights(),
) {
  const tensors = Object.fromEntries(
    [...weights].map(([name, {shape, data}]) => [name, {dtype: 'F32', shape, data: floatBytes(data, 'F32')}]),
  )
  await writeFiles(folder, {
    'config.json': JSON.stringify(config()),
    'vocab.json': vocabulary(tokens),
    'model.safetensors': safetensorsFile(tensors),
    ...changes,
  })
}

const open = (folder: string, precision: 'auto' | 'f32' | 'int8' = 'auto') =>
  openSpeechModel(folder, {name: 'ctc', threads: 1, device: 'cpu', precision, derivedFolder: join(folder, 'derived')})

const sound = randomFloats(5)(16_000).map((x) => 0.1 * x)

describe('a CTC model', () => {
  it('is refused if the backend accepts only Whisper models', async (test) => {
    const folder = await temporaryFolder(test)
    await writeModel(folder)
    const options = {name: 'ctc', threads: 1, device: 'cpu', precision: 'auto', derivedFolder: folder} as const
    for (const backend of ['whisper', 'onnx-whisper'] as const)
      await assert.rejects(openSpeechModel(folder, {...options, backend}), {
        code: 'speech_backend_mismatch',
        message: `The backend ${backend} supports only Whisper models, and ctc is a CTC model.`,
      })
    const model = await openSpeechModel(folder, {...options, backend: 'auto'})
    await model.release()
  })
})

describe('an encoder of described layers', () => {
  it('computes its layers', async (test) => {
    const folder = await temporaryFolder(test)
    const weights = randomWeights()
    await writeModel(folder, {}, weights)
    const read = readCtcConfig(config(), 'config.json')
    const tensors = await readTensorMap(join(folder, 'model.safetensors'))
    const {layers: described} = read.encoder as {layers: CtcLayer[]}
    const {model, externalFolder, vocabularySize} = buildCtcGraph(read, described, tensors)
    assert.equal(vocabularySize, 7)
    const session = await openSession(model, {threads: 1, externalFolder})
    const mel = logMel(sound, {bins, frames: 101})
    const {logits} = await session.run({features: tensor(mel, [1, bins, 101])}, {logits: null})
    await session.release()
    const frames = Array.from({length: 101}, (_, t) => Array.from({length: bins}, (_, b) => mel[b * 101 + t]!))
    const expected = reference(frames, weights)
    assert.deepEqual(logits.dims, [51, 7])
    for (const [t, row] of expected.entries())
      for (const [v, value] of row.entries())
        assert.ok(Math.abs((logits.data as Float32Array)[t * 7 + v]! - value) < 1e-4)
  })

  it('is a speech model with text, word timings within the audio, and alternatives', async (test) => {
    const folder = await temporaryFolder(test)
    await writeModel(folder)
    const model = await open(folder)
    const options = {...defaultTranscribeOptions, wordTimestamps: true, alternatives: 3}
    const {segments, alternatives} = await model.recognise(sound, options)
    await model.release()
    assert.equal(model.description.family, 'ctc')
    const [segment] = segments
    assert.ok(segment !== undefined && segment.text.length > 0)
    assert.equal(segment.words?.map(({word}) => word).join(''), segment.text)
    let at = 0
    for (const {startSec, endSec} of segment.words ?? []) {
      assert.ok(startSec >= at && endSec > startSec && endSec <= 1.0001)
      at = startSec
    }
    assert.equal(alternatives[0]?.text, segment.text)
    assert.equal(new Set(alternatives.map(({text}) => text)).size, alternatives.length)
  })

  it('pads the audio with silence if configured, and times words relative to the audio', async (test) => {
    const folder = await temporaryFolder(test)
    await writeModel(folder, {
      'config.json': JSON.stringify(config({features: {type: 'log_mel', bins, pad_sec: 0.25}})),
    })
    const padded = await open(folder)
    await writeModel(join(folder, 'plain'))
    const plain = await open(join(folder, 'plain'))
    const options = {...defaultTranscribeOptions, wordTimestamps: true}
    const between = new Float32Array(sound.length + 8000)
    between.set(sound, 4000)
    const [heard] = (await padded.recognise(sound, options)).segments
    const [expected] = (await plain.recognise(between, options)).segments
    await Promise.all([padded.release(), plain.release()])
    assert.equal(heard?.text, expected?.text)
    for (const [i, {startSec, endSec}] of (expected?.words ?? []).entries()) {
      const word = heard?.words?.[i]
      assert.ok(Math.abs((word?.startSec ?? -1) - Math.min(1, Math.max(0, startSec - 0.25))) < 1e-9)
      assert.ok(Math.abs((word?.endSec ?? -1) - Math.min(1, Math.max(0, endSec - 0.25))) < 1e-9)
    }
  })

  it('prefers the words of its word list', async (test) => {
    const folder = await temporaryFolder(test)
    const words = ['a', 'bad', 'cab', 'dead', 'ebb']
    const described = config({words: {file: 'words.txt', weight: 0, unknown: -1000}})
    await writeModel(folder, {'config.json': JSON.stringify(described), 'words.txt': `${words.join('\n')}\n`})
    const model = await open(folder)
    const {segments} = await model.recognise(sound, defaultTranscribeOptions)
    await model.release()
    const written = segments.flatMap(({text}) => text.split(' '))
    assert.ok(written.length > 0)
    assert.deepEqual(
      written.filter((word) => !words.includes(word)),
      [],
    )
  })

  it('runs in svc transcribe, and recognises nothing in silence', async (test) => {
    const folder = await temporaryFolder(test)
    await writeModel(join(folder, 'ctc'))
    await writeFile(join(folder, 'noise.wav'), monoWave(sound))
    await writeFile(join(folder, 'silence.wav'), monoWave(new Float32Array(960_000)))
    const args = ['transcribe', 'noise.wav', '--model', 'ctc', '--json']
    const heard = JSON.parse((await svc([...args, '--vad', 'none'], {cwd: folder})).stdout)
    assert.ok(heard.text.length > 0)
    const quiet = await svc(['transcribe', 'silence.wav', 'noise.wav', '--model', 'ctc', '--json'], {cwd: folder})
    for (const line of quiet.stdout.trim().split('\n')) assert.equal(JSON.parse(line).text, '')
  })

  const faults: Record<string, {files: Record<string, string | Uint8Array>; code: string}> = {
    'a layer of an unknown type': {
      files: {'config.json': JSON.stringify(config({layers: [{type: 'magic', name: 'x'}]}))},
      code: 'model_file_invalid',
    },
    'silences that are too long': {
      files: {'config.json': JSON.stringify(config({features: {type: 'log_mel', bins, pad_sec: 60}}))},
      code: 'model_file_invalid',
    },
    'no layers': {files: {'config.json': JSON.stringify(config({layers: []}))}, code: 'model_file_invalid'},
    'a file name that leads out of it': {
      files: {'config.json': JSON.stringify(config({vocabulary_file: '../vocab.json'}))},
      code: 'model_file_invalid',
    },
    'a residual of two shapes': {
      files: {
        'config.json': JSON.stringify(config({layers: [{type: 'residual', layers: [layers[0]]}, layers[4]]})),
      },
      code: 'model_file_invalid',
    },
    'a layer of another size': {
      files: {'config.json': JSON.stringify(config({layers: [{...layers[0], channels: 5}, ...layers.slice(1)]}))},
      code: 'tensor_shape',
    },
    'a word list that is not there': {
      files: {'config.json': JSON.stringify(config({words: {file: 'words.txt'}}))},
      code: 'model_file_missing',
    },
    'a word list that is no object': {
      files: {'config.json': JSON.stringify(config({words: 'words.txt'}))},
      code: 'model_file_invalid',
    },
    'more tokens than the model writes': {
      files: {'vocab.json': vocabulary([...tokens, 'f'])},
      code: 'tokenizer_mismatch',
    },
  }
  for (const [what, {files, code}] of Object.entries(faults))
    it(`with ${what} is refused`, async (test) => {
      const folder = await temporaryFolder(test)
      await writeModel(folder, files)
      await assert.rejects(open(folder), {code})
    })

  it('without its vocabulary is refused', async (test) => {
    const folder = await temporaryFolder(test)
    await writeModel(folder)
    const {rm} = await import('node:fs/promises')
    await rm(join(folder, 'vocab.json'))
    await assert.rejects(open(folder), {code: 'model_file_missing'})
  })
})

/** An ONNX file that takes samples: frames of 320, each projected to the vocabulary, as wav2vec2 is from the outside. */
function waveformGraph(withMask: boolean): Uint8Array {
  const graph = new GraphBuilder('wav2vec2')
  const input = graph.input('input_values', 'float32', ['batch', 'samples'])
  const kernel = graph.constant('kernel', 'float32', [7, 1, 320], randomFloats(3)(7 * 320))
  const channels = graph.node('Unsqueeze', [input, graph.integers(1)])
  const convolved = graph.node('Conv', [channels, kernel], {kernel_shape: [320n], strides: [320n]})
  if (withMask)
    graph.output('mask_back', graph.input('attention_mask', 'int64', ['batch', 'samples']), 'int64', ['b', 's'])
  graph.output('logits', graph.node('Transpose', [convolved], {perm: [0n, 2n, 1n]}), 'float32', ['batch', 'n', 7])
  return graph.build()
}

async function writeExport(test: TestContext, files: Record<string, string | Uint8Array>) {
  const folder = await temporaryFolder(test)
  await writeFiles(folder, {
    'config.json': '{"model_type": "wav2vec2"}',
    'vocab.json': vocabulary(tokens),
    ...files,
  })
  return folder
}

describe('an ONNX encoder of samples', () => {
  for (const mask of [false, true])
    it(`${mask ? 'with an attention mask ' : ''}is a speech model, however loud the sound is`, async (test) => {
      const folder = await writeExport(test, {'onnx/model.onnx': waveformGraph(mask)})
      const model = await open(folder)
      const text = async (samples: Float32Array) =>
        (await model.recognise(samples, defaultTranscribeOptions)).segments.map((segment) => segment.text).join()
      const heard = await text(sound)
      assert.ok(heard.length > 0)
      assert.equal(await text(sound.map((x) => 0.5 * x + 0.1)), heard)
      await model.release()
    })

  it('can be referenced by config.json', async (test) => {
    const described = config({
      layers: undefined,
      encoder_file: 'enc.onnx',
      features: {type: 'waveform', normalize: false},
    })
    const folder = await writeExport(test, {'enc.onnx': waveformGraph(false), 'config.json': JSON.stringify(described)})
    const model = await open(folder)
    assert.ok((await model.recognise(sound, defaultTranscribeOptions)).segments.length > 0)
    await model.release()
  })

  it('that is missing or invalid is reported', async (test) => {
    await assert.rejects(open(await writeExport(test, {})), {code: 'speech_model_unknown'})
    await assert.rejects(open(await writeExport(test, {'onnx/model.onnx': 'nothing'})), {code: 'model_file_invalid'})
  })

  it('with 8 bits is used if requested', async (test) => {
    const folder = await writeExport(test, {'onnx/model.onnx': 'nothing', 'onnx/model_int8.onnx': waveformGraph(false)})
    const model = await open(folder, 'int8')
    assert.equal(model.description.precision, 'int8')
    await model.release()
    await assert.rejects(readFile(join(folder, 'model.safetensors')))
  })
})
