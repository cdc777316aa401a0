import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {openAudio} from '../../../src/audio/index.js'
import {readCtcConfig} from '../../../src/speech/ctc/config.js'
import type {Emissions} from '../../../src/speech/ctc/emissions.js'
import {openDescribedEncoder} from '../../../src/speech/ctc/encoder.js'
import {streamingOf} from '../../../src/speech/ctc/encoder-graph.js'
import {streamingEncoder} from '../../../src/speech/ctc/encoder-stream.js'
import {readJsonObject} from '../../../src/weights/index.js'
import {projectFile} from '../../support/project.js'

const folder = projectFile('examples/models/starter')
const session = {threads: 1, device: 'cpu'} as const

async function starter() {
  const config = readCtcConfig(await readJsonObject(join(folder, 'config.json')), 'config.json')
  assert.ok('layers' in config.encoder)
  return {config, layers: config.encoder.layers}
}

async function samplesOf(name: string): Promise<Float32Array> {
  const audio = await openAudio({path: projectFile(`examples/${name}`)}, {sampleRate: 16_000})
  const pieces: number[] = []
  for await (const piece of audio) pieces.push(...piece)
  return Float32Array.from(pieces)
}

const rowsOf = ({positions, vocabulary, logprobs}: Emissions) =>
  Array.from({length: positions}, (_, t) => logprobs.subarray(t * vocabulary, (t + 1) * vocabulary))

describe('a CTC encoder that carries its state', () => {
  for (const pieceMs of [100, 250, 1000])
    it(`computes the same emissions in pieces of ${pieceMs} ms as of the complete audio`, async () => {
      const {config, layers} = await starter()
      const samples = await samplesOf('hello.wav')
      const encoder = await openDescribedEncoder(folder, config, layers, session)
      const whole = rowsOf((await encoder.encode(samples.slice())).emissions)
      await encoder.release()
      const streaming = streamingEncoder(folder, config, layers, session)
      const stream = await streaming?.start()
      const rows: Float32Array[] = []
      // The first piece contains the loudest frame, which sets the floor of all.
      const steps = [0, 32_000]
      for (let at = 32_000 + 16 * pieceMs; at < samples.length; at += 16 * pieceMs) steps.push(at)
      for (const [i, at] of steps.entries()) {
        const emissions = await stream?.push(samples.slice(at, steps[i + 1]))
        if (emissions !== undefined) rows.push(...rowsOf(emissions))
      }
      const tail = await stream?.tail()
      await streaming?.release()
      assert.ok(rows.length > 60, `${rows.length} positions before the end`)
      const worst = Math.max(
        ...rows.map((row, t) => Math.max(...row.map((x, v) => Math.abs(x - (whole[t]?.[v] ?? 0))))),
      )
      assert.ok(worst < 1e-3, `${worst}`)
      assert.ok(
        tail !== undefined && rows.length + tail.positions >= Math.floor((2.76 + 0.2) / 0.03),
        'the tail is there',
      )
    })

  it('returns nothing before the audio reaches the last layer', async () => {
    const {config, layers} = await starter()
    const streaming = streamingEncoder(folder, config, layers, session)
    const stream = await streaming?.start()
    assert.equal(await stream?.push(new Float32Array(1600)), undefined)
    assert.equal(await stream?.tail(), undefined)
    await streaming?.release()
  })

  it('is not available if a layer needs the complete audio', async () => {
    const {config} = await starter()
    const layers = [{type: 'gru', name: 'gru1', hidden: 8, bidirectional: true}] as const
    assert.equal(streamingOf(layers), undefined)
    assert.equal(streamingEncoder(folder, config, layers, session), undefined)
  })
})
