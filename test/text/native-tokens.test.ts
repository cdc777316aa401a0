import assert from 'node:assert/strict'
import {createHash} from 'node:crypto'
import {readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {createTokenizer} from '../../src/text/index.js'
import {projectFile} from '../support/project.js'

interface Answers {
  texts: string[]
  models: object[]
  variants: {name: string; model: number; file: object; config: Record<string, unknown>; hashes: string}[]
}

/** Written by `test/fixtures/tokenizers/write-answers.py` with the native tokenizer library. */
const {texts, models, variants} = JSON.parse(
  readFileSync(projectFile('test/fixtures/tokenizers/answers.json'), 'utf8'),
) as Answers

const hashLength = 8
const hashOf = (ids: readonly number[]) => createHash('sha256').update(ids.join(',')).digest('hex').slice(0, hashLength)

describe('createTokenizer returns the tokens of the native library', () => {
  for (const {name, model, file, config, hashes} of variants)
    it(`for ${texts.length} texts: ${name}`, () => {
      const tokenizer = createTokenizer({...file, model: models[model] as object}, config, 'tokenizer.json')
      const wrong = texts.flatMap((text, i) => {
        const ids = tokenizer.encode(text, {special: true})
        return hashOf(ids) === hashes.slice(hashLength * i, hashLength * (i + 1)) ? [] : [{text, ids}]
      })
      assert.deepEqual(wrong, [])
    })

  it('for at least 25 variants and 400 texts', () => assert.ok(variants.length >= 25 && texts.length >= 400))
})

describe('createTokenizer', () => {
  const [{file, model} = {file: {}, model: 0}] = variants
  const bpe = models[model] as object
  const refused: readonly [object, RegExp][] = [
    [{pre_tokenizer: {type: 'UnicodeScripts'}}, /tokenizer\.json uses the pre-tokenizer UnicodeScripts, which/],
    [{pre_tokenizer: {type: 'Split', pattern: {String: '-'}, behavior: 'Doubled'}}, /the behaviour "Doubled"/],
    [{pre_tokenizer: {type: 'Split', pattern: {Glob: '-'}}}, /the pattern \{"Glob":"-"\} of the pre-tokenizer Split/],
    [{normalizer: {type: 'Nmt'}}, /the Normalizer Nmt/],
    [{post_processor: {type: 'Unheard'}}, /the post-processor Unheard/],
    [{model: {...bpe, continuing_subword_prefix: '##'}}, /continuing_subword_prefix with the model BPE/],
    [{model: {...bpe, dropout: 0.1}}, /dropout of the model/],
  ]
  for (const [changes, message] of refused)
    it(`refuses ${message.source}`, () => {
      const tokenizer = createTokenizer({...file, model: bpe, ...changes}, {}, 'tokenizer.json')
      assert.throws(() => tokenizer.prepare(), {code: 'tokenizer_unsupported', message})
    })

  it('refuses settings that give the id of a token to another one', () => {
    const config = {added_tokens_decoder: {0: {content: '<other>'}}}
    const added = [{id: 0, content: '<unk>', special: true}]
    assert.throws(() => createTokenizer({...file, model: bpe, added_tokens: added}, config, 'tokenizer.json'), {
      code: 'model_file_invalid',
      message: /its settings give the id 0 of "<unk>" to "<other>"/,
    })
  })
})
