import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {openDecoder} from '../../src/llm/decoder.js'
import {readDecoderSpec} from '../../src/llm/families/index.js'
import {loadLanguageModel} from '../../src/llm/index.js'
import {type NibbleScheme, nibbleScheme, withQuantised} from '../../src/llm/precision.js'
import {openRunDirectory, readJsonObject, type TensorMap} from '../../src/weights/index.js'
import {linkBase} from '../support/guide.js'
import {generatedTokens, perplexityOf, stories, tokensOf} from '../support/perplexity.js'
import {sharedData, skipWithout} from '../support/project.js'
import {temporaryFolder} from '../support/temporary.js'

const schemes = ([32, 64, 128] as const).flatMap((block) =>
  ([8, 4] as const).map((downBits): NibbleScheme => ({block, downBits})),
)
const isDefault = ({block, downBits}: NibbleScheme) =>
  block === nibbleScheme.block && downBits === nibbleScheme.downBits

/** Perplexity of each text and scheme, relative to that of 32-bit floats. Prints a table. */
async function measure(test: TestContext, folder: string, given: readonly string[]) {
  const {config, tensors} = await openRunDirectory(folder)
  const spec = readDecoderSpec(await readJsonObject(config), config, (name) => tensors.has(name))
  const model = await loadLanguageModel(folder)
  test.after(() => model.release())
  const texts = [given.map((text) => tokensOf(model, text)), await generatedTokens(model, 24)].filter(
    ({length}) => length > 0,
  )
  const cache = await temporaryFolder(test)
  const perplexities = async (weights: TensorMap) => {
    const decoder = await openDecoder(spec, weights, {contextLength: 512, threads: 1})
    const found = []
    for (const sequences of texts) found.push(await perplexityOf(decoder, sequences))
    await decoder.release()
    return found
  }
  const exact = await perplexities(tensors)
  const ratios = async (precision: 'w8' | 'w4', scheme?: NibbleScheme) => {
    const options = {folder: cache, model: folder, threads: 1}
    const found = await perplexities(await withQuantised(spec, tensors, precision, options, scheme))
    const values = found.map((perplexity, i) => perplexity / (exact[i] as number))
    const name = scheme === undefined ? precision : `w4, block ${scheme.block}, down ${scheme.downBits}`
    test.diagnostic(`${name}: ${values.map((value) => value.toFixed(3)).join(' ')}`)
    return values
  }
  const bytes = await ratios('w8')
  const nibbles = []
  for (const scheme of schemes) nibbles.push({scheme, worst: Math.max(...(await ratios('w4', scheme)))})
  return {bytes, nibbles}
}

describe('the scheme of w4', () => {
  it('is the only one within 10 % of the perplexity of the model stories260K', {
    skip: skipWithout('stories260K'),
  }, async (t) => {
    const {bytes, nibbles} = await measure(t, sharedData('stories260K') ?? '', stories)
    assert.ok(Math.max(...bytes) < 1.01)
    assert.deepEqual(
      nibbles.filter(({worst}) => worst <= 1.1).map(({scheme}) => scheme),
      schemes.filter(isDefault),
    )
  })

  it('is within 2 % of the perplexity of the model of the guide', async (t) => {
    const folder = await temporaryFolder(t)
    await linkBase(folder)
    const {bytes, nibbles} = await measure(t, folder, [])
    assert.ok(Math.max(...bytes) < 1.01)
    assert.ok((nibbles.find(({scheme}) => isDefault(scheme))?.worst ?? 2) < 1.02)
  })
})
