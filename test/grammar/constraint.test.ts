import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {fileURLToPath} from 'node:url'
import {execa} from 'execa'
import {
  allSteps,
  type CompiledGrammar,
  type Constraint,
  compileGrammar,
  compileInSteps,
  createConstraintSource,
  createTokenTrie,
  createVocabulary,
  hasToken,
  maskWords,
  readTokenTrie,
  type Vocabulary,
  writeTokenTrie,
} from '../../src/grammar/index.js'
import {randomSource} from '../../src/sampling/index.js'
import {createTokenizer} from '../../src/text/index.js'
import {projectFile} from '../support/project.js'
import {
  compiled,
  either,
  grammar as grammarOf,
  integer,
  jsonRules,
  jsonString,
  lexeme,
  many,
  range,
  rule,
  sequence,
} from './support/build.js'
import {randomGrammar} from './support/random-grammar.js'

/** The token that ends replies; it has no bytes. */
const end = 0

const vocabularyOf = (texts: readonly Uint8Array[]) =>
  createVocabulary(createTokenTrie({size: texts.length, bytes: (token) => texts[token]}))

const ofTexts = (...texts: string[]) => vocabularyOf(['', ...texts].map((each) => Buffer.from(each)))

const startOf = (grammar: CompiledGrammar, vocabulary: Vocabulary) =>
  createConstraintSource(grammar, vocabulary, [end]).start()

function allowed(constraint: Constraint, {trie}: Vocabulary): number[] {
  const mask = new Uint32Array(maskWords(trie.size)).fill(0xffffffff)
  constraint.mask(mask)
  return Array.from({length: trie.size}, (_, token) => token).filter((token) => hasToken(mask, token))
}

/** Random tokens over a few letters, with parts of characters, and some twice. */
function randomTokens(uniform: () => number): Buffer[] {
  const whole = ['a', 'b', '😀', 'é'].map((each) => Buffer.from(each))
  const bytes = Buffer.concat(whole)
  const parts = [...whole, ...whole, ...Array.from({length: bytes.length}, (_, i) => bytes.subarray(i, i + 1))]
  const token = () =>
    Buffer.concat(Array.from({length: 1 + 4 * uniform()}, () => parts[Math.floor(parts.length * uniform())]!))
  return [Buffer.alloc(0), ...Array.from({length: 150}, token)]
}

describe('a constraint', () => {
  it('allows the tokens after which the bytes are the beginning of a text, in random grammars', () => {
    let checked = 0
    for (let seed = 1; seed <= 150; seed++) {
      const uniform = randomSource(seed)
      const random = randomGrammar(uniform)
      let grammar: CompiledGrammar
      try {
        grammar = compileGrammar(random)
      } catch {
        continue
      }
      const tokens = randomTokens(uniform)
      const vocabulary = vocabularyOf(tokens)
      const constraint = startOf(compileGrammar(random), vocabulary)
      let reply = Buffer.alloc(0)
      for (let step = 0; step < 4; step++) {
        const judge = (bytes: Uint8Array) => grammar.matcher().accept(Buffer.concat([reply, bytes]))
        const matcher = grammar.matcher()
        matcher.accept(reply)
        const expected = tokens.flatMap((bytes, token) => {
          if (token === end) return matcher.isAccepting() ? [token] : []
          return judge(bytes) ? [token] : []
        })
        const context = `seed ${seed}, after "${reply}": ${JSON.stringify([...random.rules])}`
        assert.deepEqual(allowed(constraint, vocabulary), expected, context)
        checked++
        const next = expected.filter((token) => token !== end)
        if (next.length === 0) break
        const token = next[Math.floor(next.length * uniform())]!
        assert.equal(constraint.accept(token), true)
        reply = Buffer.concat([reply, tokens[token]!])
      }
    }
    assert.ok(checked > 200, `${checked} masks`)
  })

  it('forces the bytes with which every continuation begins, in random grammars', () => {
    let forced = 0
    for (let seed = 1; seed <= 300; seed++) {
      const random = randomGrammar(randomSource(seed))
      let grammar: CompiledGrammar
      try {
        grammar = compileGrammar(random)
      } catch {
        continue
      }
      const matcher = grammar.matcher()
      const next = () => {
        const bytes = Array.from({length: 256}, (_, byte) => byte)
        const {automaton} = grammar
        return bytes.filter((byte) => automaton.step(state, byte) !== null)
      }
      let state = grammar.automaton.start
      for (const byte of startOf(grammar, ofTexts('a')).forcedBytes()) {
        assert.equal(matcher.isAccepting(), false)
        assert.deepEqual(next(), [byte], `seed ${seed}`)
        matcher.accept(Uint8Array.of(byte))
        state = grammar.automaton.step(state, byte)!
        forced++
      }
      assert.ok(matcher.isAccepting() || next().length > 1, `seed ${seed}`)
    }
    assert.ok(forced > 20, `${forced} bytes`)
  })

  it('allows the end of the reply only where the text is complete', () => {
    const vocabulary = ofTexts('a', 'b')
    const constraint = startOf(compiled({s: either(lexeme('a'), lexeme('ab'))}), vocabulary)
    assert.equal(constraint.accept(end), false)
    assert.deepEqual(allowed(constraint, vocabulary), [1])
    constraint.accept(1)
    assert.deepEqual(allowed(constraint, vocabulary), [end, 2])
    assert.deepEqual([constraint.isAccepting(), constraint.isComplete()], [true, false])
    const other = constraint.copy()
    other.accept(2)
    assert.deepEqual(allowed(other, vocabulary), [end])
    assert.deepEqual([other.isComplete(), constraint.isComplete()], [true, false])
    assert.equal(other.accept(end), true)
    assert.deepEqual(allowed(other, vocabulary), [])
    assert.equal(other.accept(1), false)
  })

  it('never allows tokens without bytes, and allows those with the same bytes together', () => {
    const vocabulary = ofTexts('a', '', 'a', 'b')
    assert.deepEqual(allowed(startOf(compiled({s: lexeme('a')}), vocabulary), vocabulary), [1, 3])
  })

  it('allows tokens that end several lexemes and rules at once', () => {
    const vocabulary = ofTexts('[', '[1', '[1, ', '2]]', ']]]', '"a": [', '{"', '}', '", "', 'é"]', ']')
    const constraint = startOf(compiled(jsonRules), vocabulary)
    assert.deepEqual(allowed(constraint, vocabulary), [1, 2, 3, 7, 9])
    for (const token of [1, 3]) assert.equal(constraint.accept(token), true)
    assert.deepEqual(allowed(constraint, vocabulary), [1, 2, 3, 4, 7, 9])
    assert.equal(constraint.accept(4), true)
    assert.deepEqual([constraint.isComplete(), allowed(constraint, vocabulary)], [true, [end]])
  })

  it('computes the same masks again after it has forgotten its states', () => {
    const vocabulary = ofTexts('[', ']', '1', ', ', '"', 'a', '": ', '{', '}')
    const grammar = compiled(jsonRules)
    const constraint = startOf(grammar, vocabulary)
    const masks: number[][] = []
    for (const token of [1, 3, 4, 1, 3, 4]) {
      assert.equal(constraint.accept(token), true)
      masks.push(allowed(constraint, vocabulary))
    }
    const again = startOf(grammar, vocabulary)
    for (const [i, token] of [1, 3, 4, 1, 3, 4].entries()) {
      grammar.automaton.forget()
      assert.equal(again.accept(token), true)
      assert.deepEqual(allowed(again, vocabulary), masks[i])
    }
  })

  it('is freed with its grammar when new objects are collected', async () => {
    // In a process of its own with one thread: what other tests leave, and when V8 collects it, would count too.
    const script = fileURLToPath(new URL('support/memory-of-constraints.js', import.meta.url))
    const {stdout} = await execa(process.execPath, ['--expose-gc', '--single-threaded', script])
    assert.ok(Number(stdout) < 15_000, `${stdout} bytes per constraint`)
  })

  it('yields between the parts of a mask', () => {
    const bytes = Array.from({length: 60_000}, (_, i) => Buffer.from(i === 0 ? '' : `${i.toString(36)}é`))
    const constraint = startOf(compiled({s: lexeme(jsonString(3, 10_000))}), vocabularyOf([...bytes, Buffer.from('"')]))
    constraint.accept(bytes.length)
    const mask = new Uint32Array(maskWords(bytes.length + 1))
    let parts = 0
    for (const _ of constraint.maskInSteps(mask)) parts++
    assert.ok(parts > 1, `${parts} parts`)
    assert.equal(hasToken(mask, 1), true)
  })

  it('shares the masks of places within a counted repetition', () => {
    const vocabulary = ofTexts(...'abcdefghij', 'abc', '"')
    const grammar = compiled({s: lexeme(jsonString(0, 100_000))})
    const source = createConstraintSource(grammar, vocabulary, [end])
    const constraint = source.start()
    constraint.accept(12)
    constraint.accept(1)
    allowed(constraint, vocabulary)
    const before = grammar.automaton.lexer.steps
    for (let i = 0; i < 100; i++) {
      constraint.accept(2)
      allowed(constraint, vocabulary)
    }
    const each = (grammar.automaton.lexer.steps - before) / 100
    assert.ok(each < 50, `${each} derivatives per token`)
  })
})

describe('forcedTokens', () => {
  const folder = projectFile('examples/runs/guide')
  const json = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'))
  const tokenizer = createTokenizer(json('tokenizer.json'), json('tokenizer_config.json'), folder)
  const encode = (text: string) => tokenizer.encode(text, {special: false})
  const size = 1 + Math.max(...Object.values<number>(json('tokenizer.json').model.vocab))
  const vocabulary = createVocabulary(createTokenTrie({size, bytes: (token) => tokenizer.bytes(token)}))

  it('are those that the tokenizer produces, whatever follows', () => {
    const grammar = compiled({
      s: sequence(
        lexeme('{"name": '),
        rule('value'),
        lexeme(', "description of the thing": '),
        rule('value'),
        lexeme('}'),
      ),
      value: either(lexeme(jsonString()), lexeme(integer)),
    })
    const values = ['"a"', '""', '12', '-4', '"name"', '" the"', '"é"']
    let forced = 0
    for (const first of values)
      for (const second of values) {
        const reply = `{"name": ${first}, "description of the thing": ${second}}`
        const constraint = createConstraintSource(grammar, vocabulary, [end]).start()
        const tokens = encode(reply)
        for (let at = 0; at < tokens.length; ) {
          const next = constraint.forcedTokens(encode) ?? assert.fail()
          assert.deepEqual(tokens.slice(at, at + next.length), next, reply)
          forced += next.length
          const accepted = next.length > 0 ? next : tokens.slice(at, at + 1)
          if (!accepted.every((token) => constraint.accept(token))) break
          at += accepted.length
        }
      }
    assert.ok(forced > 100, `${forced} tokens`)
  })

  it('are none if several continuations are possible', () => {
    const constraint = createConstraintSource(compiled({s: lexeme(many(range('a', 'z'), 1))}), vocabulary, [
      end,
    ]).start()
    assert.deepEqual(constraint.forcedTokens(encode), [])
  })
})

describe('a token trie', () => {
  const {trie} = ofTexts('a', 'ab', 'é', 'a', 'abc', 'b')

  it('is the same after it was stored', () => {
    const stored = writeTokenTrie(trie)
    assert.deepEqual(readTokenTrie(stored), trie)
    assert.deepEqual(readTokenTrie(Buffer.concat([Buffer.alloc(1), stored]).subarray(1)), trie)
  })

  it('is refused if its bytes are incomplete', () => {
    const stored = writeTokenTrie(trie)
    for (const length of [0, 3, 24, stored.length - 4])
      assert.equal(readTokenTrie(stored.subarray(0, length)), undefined, `${length}`)
  })
})

describe('a nested grammar', () => {
  const inner = {
    letters: grammarOf({s: lexeme(many(range('a', 'b'), 1))}),
    brackets: grammarOf({s: either(lexeme('a'), sequence(lexeme('('), rule('s'), lexeme(')')))}),
  }
  type Part = (name: keyof typeof inner) => ReturnType<typeof rule>
  const outer = (part: Part) => ({
    s: sequence(lexeme('<'), rule('calls'), lexeme('>')),
    calls: either(rule('call'), sequence(rule('call'), lexeme(','), rule('calls'))),
    call: either(
      sequence(lexeme('a('), part('letters'), lexeme(')')),
      sequence(lexeme('ab('), part('letters')),
      sequence(lexeme('b'), part('brackets'), lexeme(many(range('a', 'a'), 0, 2))),
    ),
  })
  const reading = (read: string[]) =>
    allSteps(
      compileInSteps(grammarOf(outer((name) => ({kind: 'nested', name}))), function* (name) {
        read.push(name)
        yield
        return inner[name as keyof typeof inner]
      }),
    )

  it('allows the same tokens as its rules in their place, also those that begin or end in it', () => {
    const inPlace = compiled({
      ...outer(rule),
      letters: inner.letters.rules.get('s')!,
      brackets: either(lexeme('a'), sequence(lexeme('('), rule('brackets'), lexeme(')'))),
    })
    let accepted = 0
    for (let seed = 1; seed <= 60; seed++) {
      const uniform = randomSource(seed)
      const letter = () => '<>(),ab'[Math.floor(7 * uniform())]
      const longer = Array.from({length: 300}, () => Array.from({length: 2 + 4 * uniform()}, letter).join(''))
      const vocabulary = ofTexts(...'<>(),ab', ...longer)
      const [constraint, expected] = [startOf(reading([]), vocabulary), startOf(inPlace, vocabulary)]
      for (let step = 0; step < 12; step++) {
        const tokens = allowed(constraint, vocabulary)
        assert.deepEqual(tokens, allowed(expected, vocabulary), `seed ${seed}, step ${step}`)
        assert.deepEqual(
          [constraint.isAccepting(), constraint.isComplete()],
          [expected.isAccepting(), expected.isComplete()],
        )
        assert.equal(Buffer.compare(constraint.forcedBytes(), expected.forcedBytes()), 0)
        const token = tokens[Math.floor(tokens.length * uniform())]
        if (token === undefined || token === end) break
        assert.ok(constraint.accept(token) && expected.accept(token))
        accepted++
      }
    }
    assert.ok(accepted > 300, `${accepted} tokens`)
  })

  it('is read when a text reaches it', () => {
    const read: string[] = []
    const vocabulary = ofTexts(...'<>(),ab')
    const constraint = startOf(reading(read), vocabulary)
    const names = [...'<b(a),ab(b,a(a'].map((letter) => {
      allowed(constraint, vocabulary)
      assert.ok(constraint.accept(1 + '<>(),ab'.indexOf(letter)), letter)
      return [...read]
    })
    assert.deepEqual(names[0], [])
    assert.deepEqual(names[1], ['brackets'])
    assert.deepEqual(names.at(-1), ['brackets', 'letters'])
  })
})
