import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {tokenizerOfTokens} from '../../src/speech/whisper/ggml-tokenizer.js'
import {pooledFloats} from '../support/random-floats.js'
import {ggmlFile, ggmlHalves, writeWhisperFolder} from '../support/whisper-files.js'
import {randomWhisper, type WhisperShape} from '../support/whisper-weights.js'

const multilingual = {vocabulary: 51_865, bins: 80, audio: 1500, text: 448}

/** The shapes of the published models. */
export const whisperShapes = {
  tiny: {...multilingual, size: 384, layers: 4, heads: 6},
  base: {...multilingual, size: 512, layers: 6, heads: 8},
  small: {...multilingual, size: 768, layers: 12, heads: 12},
} satisfies Record<string, WhisperShape>

export type WhisperSize = keyof typeof whisperShapes

/** Generated tokens, as many as the text tokens of a multilingual model: printable characters, then letter strings. */
function tokens(): string[] {
  const printable = Array.from({length: 95}, (_, i) => String.fromCharCode(32 + i))
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const strings = Array.from({length: 50_257 - printable.length}, (_, i) => {
    let text = ''
    for (let left = i + 27; left > 0; left = Math.floor((left - 1) / 26)) text = letters[(left - 1) % 26] + text
    return text
  })
  return [...printable, ...strings]
}

/** Random 16-bit float weights of a shape in both layouts: speed does not depend on the values. */
export async function writeWhisper(
  folder: string,
  size: WhisperSize,
  shape: WhisperShape = whisperShapes[size],
): Promise<{folder: string; ggml: string}> {
  const weights = randomWhisper(shape, 1, pooledFloats(1))
  const texts = tokens()
  const tokenizer = tokenizerOfTokens(
    texts.map((text) => Buffer.from(text)),
    shape.vocabulary,
  )
  const paths = {folder: join(folder, size), ggml: join(folder, `ggml-${size}.bin`)}
  await writeWhisperFolder(paths.folder, shape, weights, 'F16', tokenizer)
  await writeFile(paths.ggml, ggmlFile(shape, weights, texts, ggmlHalves, ggmlHalves))
  return paths
}
