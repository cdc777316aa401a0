import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {alignPath} from '../../../src/speech/ctc/align-path.js'
import {decodeEmissions} from '../../../src/speech/ctc/ctc-model.js'
import {type Emissions, emissionsOf, greedyPath} from '../../../src/speech/ctc/emissions.js'
import {prefixBeamSearch} from '../../../src/speech/ctc/prefix-beam-search.js'
import {createSpeller, ctcText, readCtcVocabulary, textOf} from '../../../src/speech/ctc/vocabulary.js'
import {compiledFor} from '../../support/constraints.js'
import {seeded} from '../../support/random.js'
import {randomFloats} from '../../support/random-floats.js'

const vocabulary = readCtcVocabulary(
  {'<pad>': 0, '|': 1, a: 2, b: 3, c: 4},
  {
    file: 'vocab.json',
    blankToken: '<pad>',
    wordDelimiterToken: '|',
  },
)
const blank = 0

/** Emissions of positions with the probabilities of each token. */
const emissions = (...rows: number[][]): Emissions =>
  emissionsOf(
    Float32Array.from(rows.flat(), (p) => Math.log(Math.max(p, 1e-9))),
    rows[0]?.length ?? 0,
  )

const random = (positions: number, size: number, seed: number): Emissions =>
  emissionsOf(
    randomFloats(seed)(positions * size).map((x) => 2 * x),
    size,
  )

/** What a path writes. */
const collapse = (path: readonly number[]) => path.filter((token, i) => token !== path[i - 1] && token !== blank)

/** Probability of every text, by going through all paths. */
function allTexts({positions, vocabulary: size, logprobs}: Emissions): Map<string, number> {
  const texts = new Map<string, number>()
  for (let code = 0; code < size ** positions; code++) {
    const path = Array.from({length: positions}, (_, t) => Math.floor(code / size ** t) % size)
    const logprob = path.reduce((sum, token, t) => sum + logprobs[t * size + token]!, 0)
    const text = collapse(path).join()
    texts.set(text, (texts.get(text) ?? 0) + Math.exp(logprob))
  }
  return texts
}

describe('the greedy text of emissions', () => {
  it('omits repetitions and blanks, and keeps letters that a blank separates', () => {
    const path = [2, 2, 0, 2, 3, 3, 0, 0]
    const rows = path.map((token) => Array.from({length: 5}, (_, i) => (i === token ? 0.96 : 0.01)))
    const {tokens, logprob} = greedyPath(emissions(...rows), blank)
    assert.equal(textOf(vocabulary, tokens), 'aab')
    assert.ok(Math.abs(logprob - 8 * Math.log(0.96)) < 1e-5)
  })
})

describe('the beam search over emissions', () => {
  for (let seed = 1; seed <= 5; seed++)
    it(`finds the texts in the order of their probability, like an exhaustive search (${seed})`, () => {
      const given = random(5, 3, seed)
      const expected = [...allTexts(given)].sort((a, b) => b[1] - a[1]).slice(0, 5)
      const found = prefixBeamSearch(given, {width: 200, blank}).hypotheses.slice(0, 5)
      assert.deepEqual(
        found.map(({tokens}) => tokens.join()),
        expected.map(([text]) => text),
      )
      for (const [i, {logprob}] of found.entries())
        assert.ok(Math.abs(Math.exp(logprob) - (expected[i]?.[1] ?? 0)) < 1e-5)
    })

  it('sums paths: the most likely text can differ from that of the most likely path', () => {
    const given = emissions([0.4, 0, 0.3, 0.3, 0], [0.4, 0, 0.6, 0, 0])
    // Greedy writes "a" over a blank or nothing; all paths of "a" together are the likeliest.
    assert.equal(textOf(vocabulary, prefixBeamSearch(given, {width: 8, blank}).hypotheses[0]?.tokens ?? []), 'a')
  })
})

describe('hotwords', () => {
  /** The texts that a search with the width of one finds. */
  const search = (given: Emissions, hotwords: string[], biasStrength = 3) =>
    prefixBeamSearch(given, {
      width: 1,
      blank,
      constraints: compiledFor(ctcText(vocabulary), {bias: hotwords, biasStrength}),
    }).hypotheses.map(({tokens}) => textOf(vocabulary, tokens))
  const near = emissions([0.01, 0.01, 0.6, 0.38, 0], [0.96, 0.01, 0.01, 0.01, 0.01], [0.01, 0.01, 0.01, 0.48, 0.49])

  it('are found in addition to the best texts, which keep their order', () => {
    assert.deepEqual(search(near, []), ['ac'])
    assert.deepEqual(search(near, ['bb']), ['ac', 'bb'])
    assert.deepEqual(search(near, ['BB']), ['ac', 'bb'])
  })

  it('are not found with a strength of 0', () => {
    assert.deepEqual(search(near, ['bb'], 0), ['ac'])
  })

  it('start at word boundaries', () => {
    assert.ok(search(near, ['bb']).includes('bb'))
    assert.ok(!search(near, ['c']).includes('bc'))
    const joined = emissions([0.01, 0, 0.97, 0.01, 0.01], [0.01, 0.01, 0.01, 0.48, 0.49])
    assert.ok(!search(joined, ['b']).includes('ab'))
  })

  it('that the model cannot spell are ignored', () => {
    const spell = createSpeller(vocabulary)
    assert.equal(spell('xyz'), undefined)
    assert.deepEqual(spell('ab c'), [2, 3, 1, 4])
    assert.deepEqual(spell(' AB  c '), [2, 3, 1, 4])
    assert.deepEqual(search(near, ['x']), ['ac'])
  })
})

describe('a window with hotwords', () => {
  const read = (given: Emissions, hotwords: string[], {preferred = hotwords, biasStrength = 0.8} = {}) =>
    decodeEmissions(given, vocabulary, undefined, {
      beamSize: 5,
      alternatives: 5,
      preferred: {phrases: preferred, strength: biasStrength},
      constraints: compiledFor(ctcText(vocabulary), {bias: hotwords, biasStrength}),
    }).hypotheses.map(({tokens}) => textOf(vocabulary, tokens))
  /** "a" against "b", with a probability in between. */
  const heard = (certainty: number) => emissions([1e-9, 1e-9, certainty, 1 - certainty, 1e-9], [1, 0, 0, 0, 0])

  it('contains the hotword if the audio is ambiguous', () => {
    assert.deepEqual(read(heard(0.6), ['b']).slice(0, 2), ['b', 'a'])
    assert.equal(read(heard(0.94), ['b'])[0], 'b')
  })

  it('contains a hotword that is up to 20 ** (strength / 0.8) times less likely, but never 22,027 times', () => {
    for (const [biasStrength, ratio] of [
      [0.4, 20 ** 0.5],
      [0.8, 20],
      [1.6, 400],
      [2, 20 ** 2.5],
      [80, Math.exp(10)],
    ] as const)
      for (const [factor, text] of [
        [0.95, 'b'],
        [1.05, 'a'],
      ] as const) {
        const certainty = 1 - 1 / (1 + factor * ratio)
        assert.equal(read(heard(certainty), ['b'], {biasStrength})[0], text, `${biasStrength}, ${factor}`)
      }
    assert.equal(read(heard(0.997), ['b'], {preferred: ['b', 'b']})[0], 'a')
  })

  it('contains no hotword with a strength of 0', () => {
    assert.equal(read(heard(0.6), ['b'], {biasStrength: 0})[0], 'a')
  })

  it('is unchanged if no hotword was spoken', () => {
    assert.equal(read(heard(0.6), ['c'])[0], 'a')
    assert.equal(read(heard(0.6), [])[0], 'a')
  })

  it('also prefers words that are not hotwords', () => {
    assert.equal(read(heard(0.6), [], {preferred: ['b']})[0], 'b')
    assert.equal(read(heard(0.96), [], {preferred: ['b']})[0], 'a')
  })
})

describe('a window with constraints', () => {
  const decode = (given: Emissions, changes: Parameters<typeof compiledFor>[1]) => {
    const constraints = compiledFor(ctcText(vocabulary), changes)
    const {hypotheses, escaped} = decodeEmissions(given, vocabulary, undefined, {
      beamSize: 1,
      alternatives: 1,
      preferred: {phrases: changes.bias ?? [], strength: changes.biasStrength ?? 0.8},
      constraints,
    })
    const warnings = constraints?.warnings.map(({code}) => code) ?? []
    return {
      tokens: hypotheses[0]?.tokens ?? [],
      text: textOf(vocabulary, hypotheses[0]?.tokens ?? []),
      escaped,
      warnings,
    }
  }
  /** Emissions that are sure of a text. */
  const sure = (text: string) =>
    emissions(
      ...Array.from(text, (letter) => {
        const token = letter === ' ' ? 1 : vocabulary.texts.indexOf(letter)
        return Array.from({length: 5}, (_, id) => (id === token ? 1 : 0))
      }).flatMap((row) => [row, [1, 0, 0, 0, 0]]),
    )

  it('consists of phrases, which the emissions may contain several times', () => {
    assert.deepEqual(decode(sure('ab c ab'), {phrases: ['ab', 'c']}).text, 'ab c ab')
    assert.equal(decode(random(12, 5, 1), {phrases: ['ab'], stuckSteps: 99}).escaped, false)
  })

  it('contains any text after letters that no phrase allows', () => {
    const {text, escaped} = decode(sure('cab'), {phrases: ['ab'], stuckSteps: 1})
    assert.deepEqual([text, escaped], ['cab', true])
    assert.equal(decode(sure('cab'), {phrases: ['ab'], stuckSteps: 2}).escaped, false)
  })

  it('contains only phrases whatever is said, if it may be stuck for long', () => {
    for (const [said, heard] of [
      ['a', ''],
      ['abc a', 'abc'],
      ['c abc cab c', 'abc abc'],
      ['bbbb', ''],
    ] as const) {
      const {text, escaped} = decode(sure(said), {phrases: ['abc'], stuckSteps: 99})
      assert.deepEqual([text, escaped], [heard, false], said)
    }
  })

  it('contains any text after as many letters as it may be stuck, in a row', () => {
    const escapes = (said: string, stuckSteps: number) => decode(sure(said), {phrases: ['a'], stuckSteps}).escaped
    for (const steps of [1, 2, 3, 5])
      for (const [letters, isStuck] of [
        [steps - 1, false],
        [steps, true],
      ] as const) {
        assert.equal(escapes('bc'.repeat(steps).slice(0, letters), steps), isStuck)
        assert.equal(escapes('abc '.repeat(9), steps), steps < 3)
      }
  })

  it('obeys any combination of constraints', () => {
    const {below} = seeded(5)
    const list = <T>(most: number, one: () => T): T[] => Array.from({length: below(most + 1)}, one)
    const phrase = () => Array.from({length: 1 + below(3)}, () => 'abc'[below(3)]).join('')
    let constrained = 0
    for (let seed = 1; seed <= 1000; seed++) {
      const phrases = below(3) === 0 ? [] : list(3, phrase)
      const forbidden = list(3, () => below(8))
      const bias = {bias: list(3, phrase), biasStrength: below(3) * 4, biasMaxTokens: 1 + below(3)}
      const given = random(6 + below(6), 5, seed)
      const {tokens, text, escaped, warnings} = decode(given, {...bias, phrases, forbidden, stuckSteps: 1 + below(4)})
      const what = JSON.stringify({seed, phrases, forbidden, bias, text})
      assert.ok(!tokens.some((token) => forbidden.includes(token)), what)
      if (phrases.length === 0 || escaped || warnings.includes('constraint_dropped')) continue
      constrained++
      assert.match(text, new RegExp(`^((${phrases.join('|')})( |$))*$`), what)
    }
    assert.ok(constrained > 200, String(constrained))
  })
})

describe('the alignment of a text', () => {
  it('finds the known path', () => {
    const path = [0, 2, 2, 0, 3, 3, 3, 0, 4]
    const rows = path.map((token) => Array.from({length: 5}, (_, i) => (i === token ? 0.9 : 0.025)))
    const spans = alignPath(emissions(...rows), [2, 3, 4], blank)
    assert.deepEqual(
      spans?.map(({token, first, last}) => [token, first, last]),
      [
        [2, 1, 2],
        [3, 4, 6],
        [4, 8, 8],
      ],
    )
    for (const {logprob} of spans ?? []) assert.ok(Math.abs(logprob - Math.log(0.9)) < 1e-5)
  })

  it('puts a blank between equal letters', () => {
    const rows = [2, 2, 0, 2].map((token) => Array.from({length: 5}, (_, i) => (i === token ? 0.9 : 0.025)))
    const spans = alignPath(emissions(...rows), [2, 2], blank)
    assert.deepEqual(
      spans?.map(({first, last}) => [first, last]),
      [
        [0, 1],
        [3, 3],
      ],
    )
  })

  it('is undefined if the audio is too short, and empty without text', () => {
    assert.equal(alignPath(random(2, 5, 1), [2, 3, 4], blank), undefined)
    assert.deepEqual(alignPath(random(2, 5, 1), [], blank), [])
  })
})

describe('the vocabulary of a CTC model', () => {
  const options = {file: 'vocab.json', blankToken: '<pad>', wordDelimiterToken: '|'}

  it('separates words by spaces, and omits special tokens', () => {
    const read = readCtcVocabulary({'<pad>': 0, '<s>': 1, '</s>': 2, '<unk>': 3, '|': 4, A: 5, B: 6}, options)
    assert.equal(textOf(read, [1, 4, 5, 4, 4, 6, 3, 2]), 'A B')
  })

  it('supports tokens that start words', () => {
    const read = readCtcVocabulary({'<pad>': 0, '▁he': 1, llo: 2, '▁you': 3}, options)
    assert.equal(textOf(read, [1, 2, 3]), 'hello you')
  })

  for (const [what, json] of Object.entries({
    'without a blank': {a: 0, b: 1},
    'with a gap': {'<pad>': 0, a: 5},
    'with two tokens at one place': {'<pad>': 0, a: 1, b: 1},
    'of texts': {'<pad>': '0'},
  }))
    it(`${what} is refused`, () => {
      assert.throws(() => readCtcVocabulary(json, options), {code: 'tokenizer_mismatch'})
    })
})
