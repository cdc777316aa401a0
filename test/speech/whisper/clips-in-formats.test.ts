import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {defaultTranscribeOptions} from '../../../src/speech/index.js'
import {microClips, microData} from '../../support/micro-whisper.js'
import {sharedData, skipWithout} from '../../support/project.js'
import {readClip} from '../../support/sounds.js'
import {temporaryFolder} from '../../support/temporary.js'
import {
  ggmlFile,
  ggmlHalves,
  ggmlTokens,
  readWeights,
  writeWhisperExport,
  writeWhisperFolder,
} from '../../support/whisper-files.js'
import {microShape, type WhisperShape, type WhisperWeights} from '../../support/whisper-weights.js'
import {openModel} from './support/ggml.js'

describe('the micro-Whisper', {skip: skipWithout(microData)}, () => {
  const shape: WhisperShape = {...microShape, size: 64}
  const read = () => readWeights(sharedData(microData) ?? '')

  const kinds: Record<string, (folder: string, weights: WhisperWeights) => Promise<string>> = {
    'as a whisper.cpp file': async (folder, weights) => {
      const file = join(folder, 'ggml-micro.bin')
      await writeFile(file, ggmlFile(shape, weights, ggmlTokens, ggmlHalves))
      return file
    },
    'as an ONNX export': async (folder, weights) => {
      await writeWhisperExport(join(folder, 'export'), shape, weights, {layout: 'merged', attentions: true})
      return join(folder, 'export')
    },
    'in 16-bit floats': async (folder, weights) => {
      await writeWhisperFolder(join(folder, 'half'), shape, weights, 'F16')
      return join(folder, 'half')
    },
    'in bfloat16': async (folder, weights) => {
      await writeWhisperFolder(join(folder, 'brain'), shape, weights, 'BF16')
      return join(folder, 'brain')
    },
  }
  for (const [kind, write] of Object.entries(kinds))
    it(`${kind} recognises all of its clips`, async (test) => {
      const folder = await temporaryFolder(test)
      const path = await write(folder, await read())
      const model = await openModel(test, path, folder)
      for (const clip of await microClips()) {
        const {segments} = await model.recognise(await readClip(clip.path), defaultTranscribeOptions)
        assert.deepEqual(
          segments.map(({text}) => text.trim()),
          clip.words,
          clip.path,
        )
      }
    })
})
