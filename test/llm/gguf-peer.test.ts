import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {openDecoder} from '../../src/llm/decoder.js'
import {readDecoderSpec} from '../../src/llm/families/index.js'
import {withQuantised} from '../../src/llm/precision.js'
import {createTokenizer} from '../../src/text/index.js'
import {openRunDirectory} from '../../src/weights/index.js'
import {
  answerTokens,
  hashOfTokens,
  peerModels,
  tokenizerTexts,
  writePeerModel,
  writeTokenizerModel,
} from '../support/gguf-peer.js'
import {projectFile} from '../support/project.js'
import {suiteFolder} from '../support/temporary.js'

/** Written by `test/fixtures/gguf/write-answers.js` with llama.cpp, as node-llama-cpp 3.22.1 contains it. */
const answers: {
  predictions: Record<string, {ids: string; margins: string}>
  tokens: Record<string, string>
} = JSON.parse(readFileSync(projectFile('test/fixtures/gguf/answers.json'), 'utf8'))

const numbers = (text: string | undefined) => (text ?? '').split(' ').map(Number)

/** Differences of logits below which llama.cpp may prefer another token: it rounds the inputs of products with blocks. */
const rounding = (type: string) => (type === 'F32' || type === 'F16' ? 0.02 : type === 'BF16' ? 0.1 : 0.5)

/** Share of the positions at which the margin may be so small. */
const shareOf = (type: string) => (type === 'F32' || type === 'F16' ? 0.01 : 0.1)

describe('llama.cpp and svc predict the same tokens', () => {
  const folder = suiteFolder()
  for (const peer of peerModels)
    it(`with the model ${peer.name}, at ${answerTokens.length} positions`, async (test) => {
      const {name, type, tolerance} = peer
      const file = await writePeerModel(folder, peer)
      const {readConfig, tensors} = await openRunDirectory(file)
      const spec = readDecoderSpec(await readConfig(), file, (tensor) => tensors.has(tensor))
      const weights = await withQuantised(spec, tensors, 'f32', {folder, model: file, threads: 1})
      const decoder = await openDecoder(spec, weights, {contextLength: 512, threads: 1})
      test.after(() => decoder.release())
      const cache = decoder.newCache()
      const found = await decoder.prefill(cache, cache.add(), answerTokens, {predict: 'all'})
      const [ids, margins] = [numbers(answers.predictions[name]?.ids), numbers(answers.predictions[name]?.margins)]
      assert.deepEqual([ids.length, margins.length], [answerTokens.length, answerTokens.length])
      const others = margins.filter((_, i) => found[i]?.top.ids[0] !== ids[i])
      assert.ok(
        others.length <= (tolerance === undefined ? shareOf(type) : 0) * ids.length,
        `${others.length} other tokens`,
      )
      const largest = Math.max(0, ...others)
      assert.ok(largest <= rounding(type), `margin ${largest}`)
      if (tolerance === undefined) return
      const own = found.map(({top: {logits}}) => (logits[0] as number) - (logits[1] as number))
      const differences = margins.flatMap((margin, i) => (margin < 50 ? [Math.abs(margin - (own[i] as number))] : []))
      assert.ok(differences.length > 100)
      const difference = Math.max(...differences)
      assert.ok(difference < tolerance, `largest difference of margins ${difference}`)
    })
})

describe('llama.cpp and svc encode the same tokens', () => {
  const folder = suiteFolder()
  for (const [name, hashes] of Object.entries(answers.tokens))
    it(`of ${tokenizerTexts.length} texts with the tokenizer ${name}`, async () => {
      const file = await writeTokenizerModel(folder, name)
      const {readTokenizer, declarations} = await openRunDirectory(file)
      const tokenizer = createTokenizer(await readTokenizer(), declarations.tokenizer, file)
      const wrong = tokenizerTexts.filter((text, i) => {
        // For these, llama.cpp knows only the capital letters of ASCII.
        if ((name === 'tekken' || name === 'gpt-4o') && /(?![A-Z])\p{Lu}/u.test(text)) return false
        const ids = tokenizer.encode(text, {special: false}).join(' ')
        return hashOfTokens(ids) !== hashes.slice(8 * i, 8 * (i + 1))
      })
      assert.deepEqual(wrong, [])
    })
})
