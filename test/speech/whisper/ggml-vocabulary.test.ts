import assert from 'node:assert/strict'
import {copyFile, mkdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {defaultTranscribeOptions} from '../../../src/speech/index.js'
import {importGgml} from '../../../src/speech/whisper/ggml-import.js'
import {createTokenizer} from '../../../src/text/index.js'
import {readSafetensorsHeader, readTensorFloat32} from '../../../src/weights/index.js'
import {sharedData, skipWithout} from '../../support/project.js'
import {readClip} from '../../support/sounds.js'
import {suiteFolder} from '../../support/temporary.js'
import type {WhisperShape} from '../../support/whisper-weights.js'
import {ggmlFileOfBytes, openModel} from './support/ggml.js'

const vocabulary = 'whisper-assets/multilingual.tiktoken'

async function publishedTokens(): Promise<Buffer[]> {
  const lines = (await readFile(sharedData(vocabulary) ?? '', 'utf8')).trim().split('\n')
  return lines.map((line) => Buffer.from(line.split(' ')[0] as string, 'base64'))
}

describe('a whisper.cpp file of a Whisper with its real vocabulary', {
  skip: skipWithout('whisper-reference/model.safetensors') || skipWithout(vocabulary),
}, () => {
  const folder = suiteFolder()
  const reference = (name: string) => sharedData(`whisper-reference/${name}`) ?? ''
  const file = join(folder, 'ggml.bin')
  const hf = join(folder, 'hf')
  before(async () => {
    const config = JSON.parse(await readFile(reference('config.json'), 'utf8')) as Record<string, number>
    const shape: WhisperShape = {
      size: config.d_model!,
      layers: config.encoder_layers!,
      heads: config.encoder_attention_heads!,
      vocabulary: config.vocab_size!,
      bins: config.num_mel_bins!,
      audio: config.max_source_positions!,
      text: config.max_target_positions!,
    }
    await mkdir(hf)
    await copyFile(reference('model.safetensors'), join(hf, 'model.safetensors'))
    await writeFile(join(hf, 'config.json'), JSON.stringify({model_type: 'whisper', ...config}))
    await copyFile(sharedData('whisper-assets/tokenizer.json') ?? '', join(hf, 'tokenizer.json'))
    const weights = new Map<string, {shape: readonly number[]; data: Float32Array}>()
    for (const entry of await readSafetensorsHeader(reference('model.safetensors')))
      weights.set(entry.name, {shape: entry.shape, data: await readTensorFloat32(entry)})
    await writeFile(file, ggmlFileOfBytes(shape, weights, await publishedTokens()))
  })

  it("has the tokens of Whisper's own tokenizer", async () => {
    const folders = [hf, await importGgml(file, join(folder, 'derived'))]
    const [published, tokenizer] = await Promise.all(
      folders.map(async (each) =>
        createTokenizer(JSON.parse(await readFile(join(each, 'tokenizer.json'), 'utf8')), {}, 'tokenizer.json'),
      ),
    )
    for (const text of [
      ' Grüße aus Köln 👍🏽',
      '日本語のテキスト',
      ' ComfyUI 1,000.50',
      "    if\n\n\tdon't",
      'Привет, мир',
    ])
      assert.deepEqual(tokenizer?.encode(text, {special: false}), published?.encode(text, {special: false}), text)
  })

  it('gives the same text as its safetensors', async (test) => {
    const sound = await readClip(sharedData('clips/jfk.wav') ?? '')
    const options = {...defaultTranscribeOptions, language: 'en', maxTokens: 12, temperatures: [0]}
    const results = []
    for (const path of [hf, file]) {
      const model = await openModel(test, path, folder)
      const {segments} = await model.recognise(sound, options)
      results.push(segments.map((segment) => [segment.tokens, segment.text, segment.avgLogprob.toFixed(4)]))
    }
    assert.ok(results[0]!.length > 0)
    assert.deepEqual(results[1], results[0])
  })
})
