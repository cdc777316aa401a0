import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {openSession, tensor} from '../../../src/onnx/index.js'
import {readWhisperConfig} from '../../../src/speech/whisper/config.js'
import {buildEncoderGraph} from '../../../src/speech/whisper/encoder-graph.js'
import {exactEncoderPositions} from '../../../src/speech/whisper/encoder-positions.js'
import {openGraphNetwork} from '../../../src/speech/whisper/graph-network.js'
import {readTensorMap} from '../../../src/weights/index.js'
import {sharedData, skipWithout} from '../../support/project.js'
import {allLogits} from '../../support/token-logits.js'

const file = (name: string) => sharedData(`whisper-reference/${name}`) ?? ''

async function floats(name: string): Promise<Float32Array> {
  const bytes = await readFile(file(name))
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}

function largestDifference(a: Float32Array, b: Float32Array): number {
  assert.equal(a.length, b.length)
  return a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i]!)), 0)
}

const argmax = (logits: Float32Array) => logits.reduce((best, x, i) => (x > logits[best]! ? i : best), 0)

async function open() {
  const config = readWhisperConfig(JSON.parse(await readFile(file('config.json'), 'utf8')), file('config.json'))
  const tensors = await readTensorMap(file('model.safetensors'))
  const tokens = JSON.parse(await readFile(file('toks.json'), 'utf8')) as number[]
  return {config, tensors, tokens, mel: await floats('jfk.mel.f32')}
}

describe('a Whisper beside the public reference code', {
  skip: skipWithout('whisper-reference/model.safetensors'),
}, () => {
  it('computes the same encoder states', async () => {
    const {config, tensors, mel} = await open()
    const positions = await exactEncoderPositions(config, tensors)
    const {model, externalFolder} = buildEncoderGraph(config, tensors, {states: true, positions})
    const session = await openSession(model, {threads: 1, externalFolder})
    const {states} = await session.run({mel: tensor(mel, [1, 80, 3000])}, {states: null})
    await session.release()
    assert.ok(largestDifference(states.data as Float32Array, await floats('jfk.enc.f32')) < 5e-5)
  })

  it('gives the same logits and the same 24 tokens, all at once or one by one', async () => {
    const {config, tensors, mel, tokens} = await open()
    const network = await openGraphNetwork(config, tensors, {
      threads: 1,
      device: 'cpu',
      alignmentHeads: [[1, 0]],
      textTokens: 50_257,
    })
    const context = await network.encode(mel, 3000)
    const given = tokens.slice(0, -1)
    const logits = allLogits(await context.decode().prefill(given, [...given.keys()]))
    assert.ok(largestDifference(logits, await floats('jfk.logits.f32')) < 1e-4)

    const run = context.decode()
    const greedy: number[] = []
    for (let next = await run.prefill(tokens.slice(0, 4), [3]); greedy.length < 24; ) {
      greedy.push(argmax(allLogits(next)))
      next = await run.step([greedy.at(-1) as number])
    }
    await network.release()
    assert.deepEqual(greedy, tokens.slice(4))
  })

  it('continues the selected rows of a beam', async () => {
    const {config, tensors, mel, tokens} = await open()
    const network = await openGraphNetwork(config, tensors, {
      threads: 1,
      device: 'cpu',
      alignmentHeads: [[1, 0]],
      textTokens: 50_257,
    })
    const context = await network.encode(mel, 3000)
    const run = context.decode()
    await run.prefill(tokens.slice(0, 4), [3])
    run.select([0, 0, 0])
    await run.step([100, tokens[4] as number, 200])
    run.select([2, 1, 1, 0])
    const rows = await run.step([7, tokens[5] as number, 8, 9])
    await network.release()
    assert.equal(run.rows, 4)
    assert.equal(argmax(rows[1]?.values ?? new Float32Array()), tokens[6])
  })
})
