import {tokenizerOfTokens} from '../../src/speech/whisper/ggml-tokenizer.js'
import {writeWhisperFolder} from './whisper-files.js'
import {microShape, randomWhisper, type WhisperShape} from './whisper-weights.js'

const letters = [...'abcdefghij']
/** A thousand words. */
export const wideWords = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)))

const specials = ['endoftext', 'startoftranscript', 'en', 'translate', 'transcribe', 'startoflm', 'startofprev']
/** Up to two seconds, the window of the model. */
const times = Array.from({length: 101}, (_, i) => (i * 0.02).toFixed(2))
const tokens = [
  ...wideWords,
  ...wideWords.map((word) => ` ${word}`),
  ...[...specials, 'nospeech', 'notimestamps', ...times].map((name) => `<|${name}|>`),
]
const shape: WhisperShape = {...microShape, size: 64, vocabulary: tokens.length, text: 64}
const embedding = 'model.decoder.embed_tokens.weight'

/**
 * A random Whisper with timestamps and many more words than the candidates of a step: the words with and without a space.
 * @param spread how much the rows of the vocabulary matrix differ
 * @param audio positions of a window
 */
export async function writeWideWhisper(
  folder: string,
  dtype: 'F32' | 'F16',
  spread = 1,
  seed = 5,
  audio = shape.audio,
): Promise<void> {
  const tokenizer = tokenizerOfTokens(
    tokens.map((token) => Buffer.from(token)),
    tokens.length,
  )
  const encoding = {...tokenizer, model: {...(tokenizer as {model: object}).model, ignore_merges: true}}
  const own = {...shape, audio}
  const weights = randomWhisper(own, seed)
  const {shape: dims, data} = weights.get(embedding)!
  const near = data.map((value, i) => spread * value + (1 - spread) * data[i % shape.size]!)
  await writeWhisperFolder(folder, own, new Map([...weights, [embedding, {shape: dims, data: near}]]), dtype, encoding)
}
