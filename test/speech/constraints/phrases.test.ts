import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {constraintCompiler} from '../../../src/speech/constraints/compile.js'
import type {GrammarState, PhraseGrammar} from '../../../src/speech/constraints/phrase-grammar.js'
import type {TextVocabulary} from '../../../src/speech/constraints/text-vocabulary.js'
import {compiledFor, constraintsOf} from '../../support/constraints.js'

/** Tokens of the test vocabulary; the longest one that matches is used. The first one is required. */
const texts = ['<end>', ' ', ',', '.', ' hel', 'hel', 'lo', ' there', ' here', 'here', ' a', 'a', ' b', 'X', ' X', '#']

/** A vocabulary of these tokens that counts how often it encodes. */
function vocabularyOf(): TextVocabulary & {encoded: number} {
  const vocabulary = {
    encoded: 0,
    size: texts.length,
    isRequired: (token: number) => token === 0,
    encode(text: string) {
      vocabulary.encoded++
      const tokens: number[] = []
      for (let at = 0; at < text.length; ) {
        const fitting = texts.filter((one, id) => id > 0 && one !== '#' && text.startsWith(one, at))
        const longest = fitting.sort((a, b) => b.length - a.length)[0]
        if (longest === undefined) return undefined
        tokens.push(texts.indexOf(longest))
        at += longest.length
      }
      return tokens
    },
    endsInWord: (token: number) => /\w$/.test(texts[token] ?? ''),
  }
  return vocabulary
}

const vocabulary = vocabularyOf()
const ids = (...tokens: string[]) => tokens.map((token) => texts.indexOf(token))

const grammarOf = (phrases: string[], forbidden: number[] = []) =>
  compiledFor(vocabulary, {phrases, forbidden})?.grammar as PhraseGrammar

/** The state behind tokens; undefined if one of them is not allowed. */
const reach = (grammar: PhraseGrammar, ...tokens: string[]): GrammarState | undefined =>
  ids(...tokens).reduce<GrammarState | undefined>(
    (state, token) => state && grammar.advance(state, token),
    grammar.start,
  )

const allowedBehind = (grammar: PhraseGrammar, ...tokens: string[]) =>
  reach(grammar, ...tokens)
    ?.allowed.map((token) => texts[token])
    .sort()

describe('a grammar of phrases', () => {
  const grammar = grammarOf(['hello', 'a', 'a there'])

  it('accepts nothing, and phrases with and without a space before them', () => {
    assert.equal(grammar.start.accepts, true)
    assert.deepEqual(allowedBehind(grammar), [' a', ' hel', 'a', 'hel'])
    for (const tokens of [[' hel', 'lo'], ['hel', 'lo'], [' a'], [' a', ' there']])
      assert.equal(reach(grammar, ...tokens)?.accepts, true, tokens.join(''))
  })

  it('accepts no part of a phrase, and nothing else', () => {
    assert.equal(reach(grammar, ' hel')?.accepts, false)
    assert.deepEqual(allowedBehind(grammar, ' hel'), ['lo'])
    for (const tokens of [[' there'], ['lo'], [' hel', ' a'], [' b'], [','], [' ']])
      assert.equal(reach(grammar, ...tokens), undefined, tokens.join(''))
  })

  it('accepts several phrases with a separator between and after them', () => {
    for (const tokens of [
      [' hel', 'lo', ' a'],
      [' a', ',', ' hel', 'lo', '.'],
      ['a', ' ', 'hel', 'lo', ' '],
      [' a', ' there', ' a', ' there'],
    ])
      assert.equal(reach(grammar, ...tokens)?.accepts, true, tokens.join(''))
  })

  it('accepts no two words without a space, and no two separators', () => {
    for (const tokens of [
      ['a', 'a'],
      ['a', ' ', ' a'],
      ['a', ',', ','],
      ['a', '.', ' '],
    ])
      assert.equal(reach(grammar, ...tokens), undefined, tokens.join(''))
  })

  it('follows all phrases with the same start', () => {
    assert.deepEqual(allowedBehind(grammar, ' a'), [' ', ' a', ' hel', ' there', ',', '.'])
  })

  it('finds the end of the last complete phrase', () => {
    const length = (...tokens: string[]) => grammar.completeLength(ids(...tokens), (token) => token === 0)
    assert.equal(length(' a', ' hel'), 1)
    assert.equal(length(' hel', '<end>'), 0)
    assert.equal(length(' hel', 'lo', '<end>', ' hel', 'lo'), 5)
    assert.equal(length(' b'), 0)
  })

  it('contains capitalised phrases, and other cases if the vocabulary has only those', () => {
    assert.deepEqual(allowedBehind(grammarOf(['HERE'])), [' here', 'here'])
    assert.deepEqual(allowedBehind(grammarOf(['x'])), [' X', 'X'])
  })

  it('contains only spellings without forbidden tokens', () => {
    assert.deepEqual(allowedBehind(grammarOf(['hello'], ids('hel'))), [' hel'])
    assert.equal(reach(grammarOf(['a'], ids(',')), ' a', ','), undefined)
  })

  it('is dropped with a warning if every phrase needs a forbidden token', () => {
    const compiled = compiledFor(vocabulary, {phrases: ['hello'], forbidden: ids('lo')})
    assert.equal(compiled?.grammar, undefined)
    assert.deepEqual(
      compiled?.warnings.map(({code}) => code),
      ['constraint_dropped'],
    )
  })

  it('is refused if the vocabulary cannot write a phrase', () => {
    assert.throws(() => grammarOf(['hello', 'zebra']), {code: 'phrase_unwritable', message: /"zebra"/})
  })
})

describe('the bias towards phrases', () => {
  const biasOf = (bias: string[], changes: {biasMaxTokens?: number} = {}) =>
    compiledFor(vocabulary, {bias, biasStrength: 2, ...changes})?.bias
  /** Score of each token, and what an end would withdraw. */
  function scores(bias: string[], ...tokens: string[]): number[] {
    const scorer = biasOf(bias)
    if (scorer === undefined) return []
    let {start: state} = scorer
    const steps = ids(...tokens).map((token) => {
      const next = scorer.advance(state, token)
      state = next.state
      return next.score
    })
    return [...steps, -state.pending]
  }

  it('is half for the first token of a phrase', () => {
    assert.deepEqual(scores(['hello there'], ' hel', 'lo', ' there'), [1, 2, 2, -0])
  })

  it('is withdrawn if the phrase is not completed', () => {
    assert.deepEqual(scores(['hello there'], ' hel', 'lo', ' b'), [1, 2, -3, -0])
    assert.deepEqual(scores(['hello there'], ' hel', 'lo'), [1, 2, -3])
  })

  it('remains for a complete phrase, even if a longer one is not completed', () => {
    assert.deepEqual(scores(['hello', 'hello there a'], ' hel', 'lo', ' there', ' b'), [1, 2, 2, -2, -0])
  })

  it('starts again with the token that breaks a phrase', () => {
    assert.deepEqual(scores(['a there', 'hello'], ' a', ' hel', 'lo'), [1, 0, 2, -0])
  })

  it('starts only at the start of a word', () => {
    assert.deepEqual(scores(['here'], 'hel', 'here'), [-0, -0, -0])
    assert.deepEqual(scores(['here'], ',', 'here'), [-0, 1, -0])
  })

  it('is limited to a number of tokens, and omits phrases that do not fit', () => {
    const raised = (biasMaxTokens: number) =>
      [...(biasOf(['hello', 'a', 'hello there'], {biasMaxTokens})?.start.raised.keys() ?? [])].map((id) => texts[id])
    assert.deepEqual(raised(1), ['a'])
    assert.deepEqual(raised(2), ['hel'])
    assert.deepEqual(raised(256).sort(), [' a', ' hel', 'a', 'hel'])
  })

  it('is absent without phrases, without strength, and if all phrases are unwritable', () => {
    assert.equal(compiledFor(vocabulary, {bias: []}), undefined)
    assert.equal(compiledFor(vocabulary, {bias: ['a'], biasStrength: 0}), undefined)
    assert.equal(biasOf(['zebra']), undefined)
  })
})

describe('forbidden tokens', () => {
  it('exclude those that decoding needs or that do not exist, with one warning', () => {
    const compiled = compiledFor(vocabulary, {forbidden: [0, 3, 99]})
    assert.deepEqual([...(compiled?.forbidden ?? [])], [3])
    assert.deepEqual(
      compiled?.warnings.map(({code}) => code),
      ['forbidden_token_ignored'],
    )
    assert.match(compiled?.warnings[0]?.message ?? '', /: 0, 99\./)
  })
})

describe('compiled constraints', () => {
  it('are shared by windows with the same constraints', () => {
    const counted = vocabularyOf()
    const compile = constraintCompiler(counted)
    const first = compile(constraintsOf({phrases: ['a']}))
    const {encoded} = counted
    assert.equal(compile(constraintsOf({phrases: ['a']})), first)
    assert.equal(counted.encoded, encoded)
    assert.notEqual(compile(constraintsOf({phrases: ['b']})), first)
  })
})
