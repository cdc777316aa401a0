import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {wordErrorRate} from '../../../src/speech/evaluation/error-rate.js'
import {normalizers} from '../../../src/speech/evaluation/normalize.js'
import {americanSpelling} from '../../../src/speech/evaluation/spelling.js'
import {sharedData, skipWithout} from '../../support/project.js'

describe('the basic normaliser', () => {
  const cases: readonly [string, string, string][] = [
    ['leaves out capitals, marks and blanks', '  Hello,   WORLD!! ', 'hello world'],
    ['leaves out remarks', '[music] hello (laughs) <unk> world', 'hello world'],
    ['leaves out remarks in full-width brackets', '（笑）はい', 'はい'],
    ['keeps accents and other scripts', 'Été — Москва 東京', 'été москва 東京'],
    ['takes compatible characters for the same', 'ﬁve １２', 'five 12'],
    ['keeps an angle that is no bracket', 'a < b', 'a b'],
  ]
  for (const [title, text, expected] of cases)
    it(title, () => {
      assert.equal(normalizers.basic(text), expected)
    })
})

describe('the English normaliser', () => {
  const same: readonly (readonly [string, ...string[]])[] = [
    [
      "I can't, we won't and they're here.",
      'i can not we will not and they are here',
      'I can’t we won’t and they’re here',
    ],
    ["it's what you'd gotta do", 'it is what you would got to do'],
    ['um, hello, uh, Mr. Smith', 'hello mister smith'],
    ['$3.5 million', 'three point five million dollars', '3500000 dollars'],
    ['$1', 'one dollar'],
    ['50% of 1,234,567', 'fifty per cent of 1234567'],
    ['a hundred', 'one hundred', '100'],
    ['two million', '2 million', '2,000,000'],
    ['the twenty-first of May', 'the 21st of may'],
    ['the first one', 'the 1st 1'],
    ['one hundred and twelfth', '112th'],
    ['in nineteen eighty four', 'in 1984'],
    ['twenty twenty four', '2024'],
    ['the colour of organised travelling', 'The color of organized traveling.'],
  ]
  for (const [first, ...others] of same)
    for (const other of others)
      it(`normalises "${first}" and "${other}" to the same text`, () => {
        assert.equal(normalizers.english(first), normalizers.english(other))
      })

  const apart: readonly [string, string][] = [
    ['two', 'three'],
    ['twenty one', 'twenty'],
    ['first', 'one'],
    ['I can', "I can't"],
    ['five dollars', 'five pounds'],
    ['four', 'for'],
  ]
  for (const [one, other] of apart)
    it(`distinguishes "${one}" and "${other}"`, () => {
      assert.notEqual(wordErrorRate(normalizers.english(one), normalizers.english(other)).rate, 0)
    })

  it('is idempotent', () => {
    for (const [first] of same)
      assert.equal(normalizers.english(normalizers.english(first)), normalizers.english(first))
  })

  it('processes unclosed brackets in linear time', () => {
    assert.equal(normalizers.english('<'.repeat(200_000)), '')
  })
})

describe('American spelling', () => {
  const british: readonly [string, string][] = [
    ['colour', 'color'],
    ['behaviour', 'behavior'],
    ['organisation', 'organization'],
    ['analysed', 'analyzed'],
    ['cancelled', 'canceled'],
    ['centre', 'center'],
    ['kilometres', 'kilometers'],
    ['catalogue', 'catalog'],
    ['defence', 'defense'],
    ['anaesthetic', 'anesthetic'],
    ['fulfil', 'fulfill'],
    ['programme', 'program'],
    ['manoeuvre', 'maneuver'],
    ['greyish', 'grayish'],
    ['ploughed', 'plowed'],
    ['tyres', 'tires'],
  ]
  for (const [word, american] of british)
    it(`of ${word} is ${american}`, () => {
      assert.equal(americanSpelling(word), american)
    })

  const everywhere =
    'four hour our your tour pour flour sour wise exercise advertise surprise noise raise promise precise otherwise ' +
    'clockwise rise arise franchise enterprise revise premises crises raised advised kissed this is basis acre genre ' +
    'fire more chancellor cancellation excellent called tell filling rolled league vogue fence hence silence ' +
    'greyhound cosine couch mouth dream poem does shoe aerial check gram mouse worship tranquil vase phrase'
  it('keeps words that are equal in British English', () => {
    assert.equal(everywhere.split(' ').map(americanSpelling).join(' '), everywhere)
  })

  const table = 'whisper-assets/english-normalizer.json'
  it('matches the table of Whisper for nearly all words', {skip: skipWithout(table)}, () => {
    const entries = Object.entries(JSON.parse(readFileSync(sharedData(table) as string, 'utf8')))
    const right = entries.filter(([word, american]) => americanSpelling(word) === american).length
    assert.ok(entries.length > 1000)
    assert.ok(right / entries.length > 0.95, `${right} of ${entries.length}`)
  })
})
