import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {decodeEmissions} from '../../../src/speech/ctc/ctc-model.js'
import {type Emissions, emissionsOf} from '../../../src/speech/ctc/emissions.js'
import {prefixBeamSearch} from '../../../src/speech/ctc/prefix-beam-search.js'
import type {PrefixScorer} from '../../../src/speech/ctc/prefix-scorer.js'
import {ctcText, readCtcVocabulary, textOf} from '../../../src/speech/ctc/vocabulary.js'
import {WordList} from '../../../src/speech/ctc/word-list.js'
import {noPreference} from '../../../src/speech/model/model.js'
import {compiledFor} from '../../support/constraints.js'

const letters = ['<pad>', '|', ...'abcdefghijklmnopqrstuvwxyz']
const vocabulary = readCtcVocabulary(Object.fromEntries(letters.map((letter, id) => [letter, id])), {
  file: 'vocab.json',
  blankToken: '<pad>',
  wordDelimiterToken: '|',
})
const tokens = (text: string) => Array.from(text, (letter) => letters.indexOf(letter === ' ' ? '|' : letter))
const words = ['the', 'to', 'tone', 'ten'].join('\n')
const weight = 0.5
const list = new WordList(words, vocabulary, {weight, unknown: -3, pairs: '', pair: 0})
/** A list in which other words are only a little less likely. */
const likely = new WordList(words, vocabulary, {weight: 0.1, unknown: -0.5, pairs: '', pair: 0})
const worth = (rank: number) => -weight * Math.log(1 + rank)
const unknown = worth(4) - 3

/** What a text is worth, letter by letter. */
function scoreOf<S>(scorer: PrefixScorer<S>, text: string): number {
  let state = scorer.start
  let sum = 0
  for (const token of tokens(text)) {
    const next = scorer.advance(state, token)
    state = next.state
    sum += next.score
  }
  return sum + scorer.close(state)
}

/** Letters that are sure, but where several are given, one of which each is as likely as the others. */
function sound(...places: string[]): Emissions {
  const rows = places.flatMap((place) => {
    const row = letters.map((letter) => (place.replace(' ', '|').includes(letter) ? 1 / place.length : 1e-6))
    const rest = letters.map((_, id) => (id === 0 ? 0.98 : 0.02 / letters.length))
    return [row, rest]
  })
  return emissionsOf(
    Float32Array.from(rows.flat(), (p) => Math.log(p)),
    letters.length,
  )
}

const write = (given: Emissions, scorer: PrefixScorer<never> | PrefixScorer) =>
  textOf(
    vocabulary,
    prefixBeamSearch(given, {width: 16, blank: 0, scorer: scorer as PrefixScorer}).hypotheses[0]?.tokens ?? [],
  )

describe('a word list', () => {
  const cases: readonly [string, number][] = [
    ['', 0],
    ['the', worth(0)],
    ['tone', worth(2)],
    ['to ten', worth(1) + worth(3)],
    ['ton', unknown],
    ['tonel', unknown],
    ['xyz the', unknown + worth(0)],
    ['the xyz', worth(0) + unknown],
    ['the  to', worth(0) + worth(1)],
  ]
  for (const [text, score] of cases)
    it(`gives "${text}" the score of its words, whatever its tokens`, () =>
      assert.ok(Math.abs(scoreOf(list, text) - score) < 1e-12))

  it('gives a prefix the score of the best word with this prefix', () => {
    const first = (text: string) => list.advance(list.start, tokens(text)[0]!)
    assert.ok(Math.abs(first('t').score - worth(0)) < 1e-12)
    assert.ok(Math.abs(list.advance(first('t').state, tokens('o')[0]!).score - (worth(1) - worth(0))) < 1e-12)
    assert.equal(first('x').score, unknown)
  })

  it('prefers words, and frequent words, if the audio is ambiguous', () => {
    assert.equal(write(sound('t', 'oe', 'n'), list), 'ten')
    assert.equal(write(sound('t', 'hx', 'ea'), list), 'the')
    assert.equal(
      write(sound('to', 'eo'), new WordList('to\noe', vocabulary, {weight, unknown: -3, pairs: '', pair: 0})),
      'to',
    )
    assert.equal(
      write(sound('to', 'eo'), new WordList('oe\nto\n', vocabulary, {weight, unknown: -3, pairs: '', pair: 0})),
      'oe',
    )
  })

  it('does not override clear audio', () => {
    assert.equal(write(sound('t', 'o', 'n'), list), 'ton')
    assert.equal(write(sound('q', 'i', ' ', 't', 'o'), list), 'qi to')
  })

  it('adds a bonus for frequent word pairs, whatever separates them', () => {
    const paired = new WordList(words, vocabulary, {
      weight,
      unknown: -3,
      pairs: 'to ten\nno word\n',
      pair: 2,
    })
    const near = (text: string, score: number) => assert.ok(Math.abs(scoreOf(paired, text) - score) < 1e-12, text)
    near('to ten', worth(1) + worth(3) + 2)
    near('ten to', worth(1) + worth(3))
    near('to ten to ten', 2 * (worth(1) + worth(3) + 2))
    near('to  ten', worth(1) + worth(3) + 2)
    near('to x ten', worth(1) + unknown + worth(3))
    assert.equal(write(sound('t', 'o', ' ', 't', 'eho', 'en'), paired), 'to ten')
  })

  it('counts lines that cannot be written, and accepts capitals and line ends of Windows', () => {
    const written = new WordList('The\r\n\r\nn\u00e9\r\nTO\r\n', vocabulary, {
      weight,
      unknown: -3,
      pairs: 'THE to\r\n',
      pair: 2,
    })
    const near = (text: string, score: number) => assert.ok(Math.abs(scoreOf(written, text) - score) < 1e-12, text)
    near('the', worth(0))
    near('to', worth(3))
    near('n', worth(4) - 3)
    near('the to', worth(0) + worth(3) + 2)
  })

  it('spells words with tokens of several letters', () => {
    const pieces = {...vocabulary, texts: [...vocabulary.texts, 'th', 'on']}
    const spelled = new WordList('the\ntone\nton', pieces, {weight, unknown: -3, pairs: 'tone the', pair: 2})
    const read = (...ids: number[]) => {
      let [state, sum] = [spelled.start, 0]
      for (const id of ids) {
        const next = spelled.advance(state, id)
        state = next.state
        sum += next.score
      }
      return sum + spelled.close(state)
    }
    const [th, on] = [letters.length, letters.length + 1]
    const [t, e] = [letters.indexOf('t'), letters.indexOf('e')]
    assert.ok(Math.abs(read(th, e) - worth(0)) < 1e-12)
    assert.ok(Math.abs(read(t, on, e, 1, th, e) - (worth(1) + worth(0) + 2)) < 1e-12)
    assert.ok(Math.abs(read(t, on) - worth(2)) < 1e-12)
    assert.ok(Math.abs(read(t, letters.indexOf('o')) - (worth(3) - 3)) < 1e-12)
  })

  it('can be combined with a bias', () => {
    const constraints = compiledFor(ctcText(vocabulary), {bias: ['ton'], biasStrength: 4})
    const options = {beamSize: 1, alternatives: 1, constraints, preferred: {phrases: ['ton'], strength: 4}}
    const read = (changes: object = {}) =>
      decodeEmissions(sound('t', 'oe', 'n'), vocabulary, likely, {...options, ...changes}).hypotheses.map(
        ({tokens: ids}) => textOf(vocabulary, ids),
      )[0]
    assert.deepEqual([read(), read({preferred: noPreference})], ['ton', 'ten'])
  })
})
