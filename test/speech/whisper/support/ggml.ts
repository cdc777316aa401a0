/** Files of whisper.cpp with any tokens, and models that are opened for a test. */
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {openSpeechModel} from '../../../../src/speech/engine/open-model.js'
import type {SpeechModel} from '../../../../src/speech/index.js'
import {ggmlFile, ggmlFloats} from '../../../support/whisper-files.js'
import type {WhisperShape, WhisperWeights} from '../../../support/whisper-weights.js'

/** Bytes before the tokens: magic, eleven numbers, and the mel filters with their two sizes. */
export const bytesBeforeTokens = 4 * (12 + 2 + 80 * 201)

/** A whisper.cpp file with tokens that need not be text. */
export function ggmlFileOfBytes(shape: WhisperShape, weights: WhisperWeights, tokens: readonly Uint8Array[]): Buffer {
  const empty = ggmlFile(shape, weights, [], ggmlFloats)
  const integer = (value: number) => Buffer.from(Int32Array.of(value).buffer)
  return Buffer.concat([
    empty.subarray(0, bytesBeforeTokens),
    integer(tokens.length),
    ...tokens.flatMap((token) => [integer(token.length), token]),
    empty.subarray(bytesBeforeTokens + 4),
  ])
}

/** Opens a model that is released when the test ends. @param folder for converted files */
export async function openModel(test: TestContext, path: string, folder: string): Promise<SpeechModel> {
  const model = await openSpeechModel(path, {
    name: 'tested',
    threads: 1,
    device: 'cpu',
    precision: 'f32',
    derivedFolder: join(folder, 'derived'),
  })
  test.after(() => model.release())
  return model
}
