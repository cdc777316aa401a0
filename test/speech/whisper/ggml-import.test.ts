import assert from 'node:assert/strict'
import {readdir, readFile, rm, stat, truncate, writeFile} from 'node:fs/promises'
import {basename, join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import type {SpeechModel} from '../../../src/speech/index.js'
import {importGgml} from '../../../src/speech/whisper/ggml-import.js'
import {tokenizerOfTokens} from '../../../src/speech/whisper/ggml-tokenizer.js'
import {createTokenizer} from '../../../src/text/index.js'
import {temporaryFolder} from '../../support/temporary.js'
import {ggmlFile, ggmlTokens} from '../../support/whisper-files.js'
import {microShape, randomWhisper} from '../../support/whisper-weights.js'
import {bytesBeforeTokens, ggmlFileOfBytes, openModel} from './support/ggml.js'

/** As many different tokens: each byte, then pairs of bytes. */
const pairsOfBytes = (count: number): Buffer[] =>
  Array.from({length: count}, (_, i) => (i < 256 ? Buffer.of(i) : Buffer.of((i - 256) >> 8, (i - 256) & 255)))

async function open(test: TestContext, file: Uint8Array): Promise<SpeechModel> {
  const folder = await temporaryFolder(test)
  await writeFile(join(folder, 'ggml.bin'), file)
  return openModel(test, join(folder, 'ggml.bin'), folder)
}

async function tokenizerOf(test: TestContext, tokens: readonly Uint8Array[]) {
  const folder = await temporaryFolder(test)
  const file = join(folder, 'ggml.bin')
  await writeFile(file, ggmlFileOfBytes(microShape, randomWhisper(microShape), tokens))
  const made = join(await importGgml(file, join(folder, 'derived')), 'tokenizer.json')
  return createTokenizer(JSON.parse(await readFile(made, 'utf8')), {}, made)
}

describe('the tokens of a whisper.cpp file', () => {
  // Made in this order: "he", "ll", "hell", "hello", " hello"; é is two bytes, and a token of its own.
  const made = ['he', 'll', 'hell', 'hello', ' hello', 'é'].map((text) => Buffer.from(text))
  const tokens = [...pairsOfBytes(256), ...made]

  it('encode text with the original merges', async (test) => {
    const tokenizer = await tokenizerOf(test, tokens)
    const encode = (text: string) => tokenizer.encode(text, {special: false})
    assert.deepEqual(encode(' hello'), [260])
    assert.deepEqual(encode('hello'), [259])
    assert.deepEqual(encode('hel'), [256, 'l'.charCodeAt(0)])
    assert.deepEqual(encode('é'), [261])
    assert.deepEqual(encode('è'), [...Buffer.from('è')])
  })

  it('keep all bytes, including invalid UTF-8', async (test) => {
    const tokenizer = await tokenizerOf(test, tokens)
    for (const [id, bytes] of tokens.entries()) assert.deepEqual(tokenizer.bytes(id), Buffer.from(bytes), `token ${id}`)
    assert.equal(tokenizer.decode([...Buffer.from('日本 👍')]), '日本 👍')
  })
})

describe('the languages of a whisper.cpp file', () => {
  /** By the size of the vocabulary, which alone counts: the file of the test has few of the tokens. */
  const published: Record<number, {languages: number; last: string}> = {
    51864: {languages: 1, last: 'en'},
    51865: {languages: 99, last: 'su'},
    51866: {languages: 100, last: 'yue'},
  }
  for (const [size, {languages, last}] of Object.entries(published))
    it(`are ${languages} where it has ${size} tokens`, async (test) => {
      const shape = {...microShape, size: 4, layers: 1, vocabulary: Number(size)}
      const {description} = await open(test, ggmlFileOfBytes(shape, randomWhisper(shape), pairsOfBytes(256)))
      assert.equal(description.languages.length, languages)
      assert.deepEqual([description.languages[0], description.languages.at(-1)], ['en', last])
      assert.equal(description.translates, languages > 1)
    })
})

describe('the special tokens of a whisper.cpp file', () => {
  /** By the size of the vocabulary: the place of the end of text, of the start, and of the first timestamp. */
  const published: Record<number, readonly [number, number, number]> = {
    51864: [50_256, 50_257, 50_363],
    51865: [50_257, 50_258, 50_364],
    51866: [50_257, 50_258, 50_365],
  }
  for (const [size, places] of Object.entries(published))
    for (const inFile of size === '51865' ? [false, true] : [false])
      it(`have their places among ${size}, ${inFile ? 'where' : 'where not even'} the end of text is in the file`, () => {
        const tokens = inFile ? [...pairsOfBytes(places[0]), Buffer.from('<|endoftext|>')] : pairsOfBytes(256)
        const json = tokenizerOfTokens(tokens, Number(size))
        const tokenizer = createTokenizer(json, {}, 'tokenizer.json')
        const names = ['<|endoftext|>', '<|startoftranscript|>', '<|0.00|>']
        assert.deepEqual(names.map(tokenizer.id), [...places])
        assert.equal(tokenizer.id('<|30.00|>'), Number(size) - 1)
        assert.equal(tokenizer.decode(places), '')
      })
})

describe('a whisper.cpp file that was opened before', () => {
  it('is converted again if the converted file is damaged', async (test) => {
    const folder = await temporaryFolder(test)
    const file = join(folder, 'ggml.bin')
    await writeFile(file, ggmlFile(microShape, randomWhisper(microShape), ggmlTokens))
    const made = await importGgml(file, join(folder, 'derived'))
    await rm(join(made, 'model.safetensors'))
    assert.equal(await importGgml(file, join(folder, 'derived')), made)
    assert.ok((await stat(join(made, 'model.safetensors'))).size > 0)
  })

  it('can be opened by two processes at once', async (test) => {
    const folder = await temporaryFolder(test)
    const file = join(folder, 'ggml.bin')
    await writeFile(file, ggmlFile(microShape, randomWhisper(microShape), ggmlTokens))
    const both = [importGgml(file, join(folder, 'derived')), importGgml(file, join(folder, 'derived'))]
    const [first, second] = await Promise.all(both)
    assert.equal(first, second)
    assert.deepEqual(await readdir(join(folder, 'derived')), [basename(first as string)])
  })
})

describe('an invalid whisper.cpp file', () => {
  const weights = randomWhisper(microShape)
  const file = () => ggmlFile(microShape, weights, ggmlTokens)
  const atVocabulary = bytesBeforeTokens
  /** Four-byte places of the header, and numbers that no model has there. */
  const nonsense: Record<string, {at: number; value: number; reason: RegExp}> = {
    layers: {at: 20, value: 2_000_000_000, reason: /audioLayers is 2000000000/},
    heads: {at: 16, value: 1_000_000, reason: /audioHeads is 1000000/},
    'width of the decoder': {at: 28, value: 64, reason: /its encoder has width 32, but its decoder has width 64/},
    'mel filters': {at: 48, value: -1, reason: /count of -1,/},
    'number of tokens': {at: atVocabulary, value: 0x7fff_ffff, reason: /count of 2147483647,/},
    'length of a token': {at: atVocabulary + 4, value: 1 << 30, reason: /count of 1073741824,/},
  }
  for (const [what, {at, value, reason}] of Object.entries(nonsense))
    it(`in its ${what} is refused before it is converted`, async (test) => {
      const bytes = file()
      bytes.writeInt32LE(value, at)
      await assert.rejects(open(test, bytes), (error: Error & {code?: string}) => {
        assert.equal(error.code, 'model_file_invalid')
        assert.match(error.message, reason)
        return true
      })
    })

  it('that is truncated is refused, wherever it ends', async (test) => {
    const folder = await temporaryFolder(test)
    const path = join(folder, 'ggml.bin')
    const whole = file()
    const inTensor = whole.indexOf('decoder.positional_embedding') + 40
    for (const length of [2, 30, 50, bytesBeforeTokens + 2, bytesBeforeTokens + 20, inTensor]) {
      await writeFile(path, whole)
      await truncate(path, length)
      await assert.rejects(importGgml(path, join(folder, 'derived')), {code: 'model_file_invalid'}, `${length} bytes`)
    }
  })
})
