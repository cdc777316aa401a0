import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {readLanguageHint, requireLanguage, withDetection} from '../../../src/speech/text/language-hint.js'
import {languageCode, languageCodes, languageName, languageTest} from '../../../src/speech/text/languages.js'

describe('the languages', () => {
  it('are in the order of their tokens', () => {
    assert.deepEqual(languageCodes.slice(0, 5), ['en', 'zh', 'de', 'es', 'ru'])
    assert.deepEqual([languageCodes.length, languageCodes.at(-2), languageCodes.at(-1)], [100, 'su', 'yue'])
  })

  it('are found by code, name and alias', () => {
    for (const [word, code] of Object.entries({German: 'de', ' EN ': 'en', flemish: 'nl', mandarin: 'zh', nb: 'no'}))
      assert.equal(languageCode(word), code)
    assert.equal(languageCode('klingon'), undefined)
    assert.equal(languageName('de'), 'german')
  })
})

describe('a hint of the language', () => {
  const known = ['en', 'de', 'no']
  const cases: readonly (readonly [hint: string | undefined, language: string | undefined, notes: string[]])[] = [
    [undefined, undefined, []],
    ['  ', undefined, []],
    ['auto', undefined, []],
    ['de', 'de', []],
    ['DE', 'de', []],
    ['en-US', 'en', ['language_hint_region_stripped']],
    ['german', 'de', ['language_hint_name_mapped']],
    ['nb-NO', 'no', ['language_hint_region_stripped', 'language_hint_name_mapped']],
    ['de_DE', 'de', ['language_hint_region_stripped']],
    ['Deutsch', 'de', ['language_hint_name_mapped']],
    ['norsk', 'no', ['language_hint_name_mapped']],
    ['Português', undefined, ['language_hint_name_mapped', 'language_hint_unsupported']],
    ['x', undefined, ['language_hint_length_out_of_range']],
    ['e!', undefined, ['language_hint_invalid_charset']],
    ['this is a very long hint!', undefined, ['language_hint_length_out_of_range', 'language_hint_invalid_charset']],
    ['fr', undefined, ['language_hint_unsupported']],
  ]
  for (const [hint, language, notes] of cases)
    it(`such as ${JSON.stringify(hint)} means ${language ?? 'nothing'}`, () => {
      const read = readLanguageHint(hint, known)
      assert.deepEqual([read.language, read.diagnostics.notes], [language, notes])
      assert.equal(read.diagnostics.normalized, language ?? null)
    })

  it('that the model does not support is an error with a suggestion', () => {
    const model = {name: 'tiny', languages: known}
    assert.throws(() => requireLanguage('fr', model), {code: 'language_unsupported'})
    assert.throws(() => requireLanguage('germn', model), /Did you mean german\?/)
    assert.throws(() => requireLanguage('de', {name: 'tiny.en', languages: ['en']}), {code: 'language_unsupported'})
    for (const hint of ['e!', 'x', 'this is a very long hint!']) {
      assert.equal(requireLanguage(hint, model).language, undefined)
      assert.throws(() => requireLanguage(hint, model, {isStrict: true}), {code: 'language_unsupported'})
    }
    assert.equal(requireLanguage('auto', model, {isStrict: true}).language, undefined)
    assert.equal(requireLanguage('en-gb', {name: 'tiny.en', languages: ['en']}).language, 'en')
  })

  it('is reported with the detected language', () => {
    const {diagnostics} = readLanguageHint(undefined, known)
    const detected = withDetection(diagnostics, {language: 'de', probability: 0.98765})
    assert.deepEqual(detected, {raw: null, normalized: null, notes: [], detected: 'de', detected_probability: 0.9877})
  })
})

describe('the language of an audio track', () => {
  it('is found by its codes, names and locales', () => {
    for (const word of ['de', 'deu', 'ger', 'German', 'Deutsch', 'de_DE', 'de-AT'])
      assert.deepEqual(
        ['ger', 'deu', 'de', 'de-DE', 'gsw', 'und', ''].map((tag) => languageTest(word)?.(tag)),
        [...[true, true, true, true, false, false, false]],
      )
    assert.equal(languageTest('gsw')?.('gsw'), true)
    assert.equal(languageTest('klingonn'), undefined)
  })
})
