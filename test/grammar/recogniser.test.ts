import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {
  type CompiledGrammar,
  compileGrammar,
  compileInSteps,
  type Expression,
  type Pattern,
  stepsInTurns,
} from '../../src/grammar/index.js'
import {randomSource} from '../../src/sampling/index.js'
import {either, grammar, lexeme, many, range, rule, sequence, text} from './support/build.js'
import {alphabet, otherLetter, randomGrammar} from './support/random-grammar.js'
import {textsOf, wordsOf} from './support/words.js'

const empty = sequence()

/** Whether the bytes are a text of the grammar, the beginning of one, or neither. */
function judge(compiled: CompiledGrammar, bytes: string | Uint8Array): 'complete' | 'beginning' | 'refused' {
  const matcher = compiled.matcher()
  if (!matcher.accept(Buffer.from(bytes as Uint8Array))) return 'refused'
  return matcher.isAccepting() ? 'complete' : 'beginning'
}

const judged = (compiled: CompiledGrammar, ...texts: string[]) => texts.map((each) => judge(compiled, each))

describe('compileGrammar', () => {
  it('accepts the texts of random grammars, and no others', () => {
    let checked = 0
    for (let seed = 1; seed <= 150; seed++) {
      const random = randomGrammar(randomSource(seed))
      const context = `seed ${seed}: ${JSON.stringify([...random.rules])}`
      const words = wordsOf(random, alphabet, 4)
      let compiled: CompiledGrammar
      try {
        compiled = compileGrammar(random)
      } catch (error) {
        assert.equal((error as {code?: unknown}).code, 'grammar_unsatisfiable', context)
        assert.equal(words.size, 0, context)
        continue
      }
      for (const each of textsOf(alphabet, 2)) {
        const found = judge(compiled, each)
        assert.equal(found === 'complete', words.has(each), `${context}: "${each}" is ${found}`)
        if ([...words].some((word) => word.startsWith(each))) assert.notEqual(found, 'refused', `${context}: "${each}"`)
        else if (found !== 'refused') {
          const whole = completion(compiled, each).map((letter) => (alphabet.includes(letter) ? letter : otherLetter))
          assert.ok(whole.length === 0 || words.has(whole.join('')), `${context}: "${each}", "${whole.join('')}"`)
        }
        checked++
      }
    }
    assert.ok(checked > 2000)
  })

  it('matches lexemes that may end at several places', () => {
    const compiled = compileGrammar(
      grammar({s: sequence(lexeme(many(range('a', 'z'), 1)), lexeme('b'), lexeme(many(range('a', 'b'))))}),
    )
    assert.deepEqual(judged(compiled, 'b', 'ab', 'abab', 'zzbz', 'b1'), [
      'beginning',
      'complete',
      'complete',
      'beginning',
      'refused',
    ])
  })

  it('matches nested, left-recursive and right-recursive rules of any depth', () => {
    const nested = compileGrammar(grammar({s: either(empty, sequence(lexeme('('), rule('s'), lexeme(')')))}))
    assert.equal(judge(nested, '('.repeat(5000) + ')'.repeat(5000)), 'complete')
    assert.equal(judge(nested, '('.repeat(3) + ')'.repeat(4)), 'refused')
    const left = compileGrammar(grammar({s: either(lexeme('a'), sequence(rule('s'), lexeme(','), lexeme('a')))}))
    const right = compileGrammar(grammar({s: either(lexeme('a'), sequence(lexeme('a'), lexeme(','), rule('s')))}))
    for (const each of [left, right]) {
      assert.equal(judge(each, `${'a,'.repeat(5000)}a`), 'complete')
      assert.equal(judge(each, 'a,,'), 'refused')
    }
  })

  it('does few steps per byte for right recursion and for elements of an array', () => {
    const right = grammar({s: either(empty, sequence(lexeme('a'), rule('s')))})
    const array = grammar({
      s: sequence(
        lexeme('['),
        rule('s'),
        {kind: 'repeat', part: sequence(lexeme(','), rule('s')), min: 0, max: Infinity},
        lexeme(']'),
      ),
    })
    assert.throws(() => compileGrammar(array), {code: 'grammar_unsatisfiable'})
    const compiled = compileGrammar(right)
    judge(compiled, 'a'.repeat(10_000))
    assert.ok(compiled.automaton.steps < 200_000, `${compiled.automaton.steps} steps`)
  })

  it('matches ambiguous grammars without trying each derivation', () => {
    const compiled = compileGrammar(
      grammar({
        s: either(lexeme('a'), lexeme('aa'), sequence(rule('s'), rule('s')), sequence(rule('s'), rule('s'), rule('s'))),
      }),
    )
    assert.equal(judge(compiled, 'a'.repeat(60)), 'complete')
    assert.ok(compiled.automaton.steps < 1_000_000, `${compiled.automaton.steps} steps`)
  })

  it('matches rules that may be empty, and refuses those that never end', () => {
    const compiled = compileGrammar(
      grammar({
        s: sequence(rule('t'), rule('t'), lexeme('x')),
        t: either(empty, rule('t'), rule('s'), rule('u')),
        u: sequence(lexeme('y'), rule('u')),
      }),
    )
    assert.deepEqual(judged(compiled, 'x', 'xx', 'y'), ['complete', 'complete', 'refused'])
    assert.throws(() => compileGrammar(grammar({s: sequence(lexeme('y'), rule('s'))})), {code: 'grammar_unsatisfiable'})
  })

  it('counts repetitions without creating a state for each in advance', () => {
    const compiled = compileGrammar(grammar({s: lexeme(many(range('a', 'z'), 9_999, 10_000))}))
    const steps = compiled.automaton.steps
    assert.ok(steps < 1000, `${steps} steps`)
    assert.equal(judge(compiled, 'a'.repeat(9_998)), 'beginning')
    assert.equal(judge(compiled, 'a'.repeat(10_000)), 'complete')
    assert.equal(judge(compiled, 'a'.repeat(10_001)), 'refused')
    const items: Expression = {kind: 'repeat', part: lexeme('ab'), min: 5000, max: 5000}
    assert.equal(judge(compileGrammar(grammar({s: items})), 'ab'.repeat(5000)), 'complete')
  })

  it('accepts parts of a character, but no invalid UTF-8', () => {
    const any: Pattern = {
      kind: 'characters',
      ranges: [
        [0, 0xd7ff],
        [0xe000, 0x10ffff],
      ],
    }
    for (const pattern of [many(any), {kind: 'not', part: text('x')} as const]) {
      const compiled = compileGrammar(grammar({s: lexeme(pattern)}))
      const euro = Buffer.from('€')
      assert.equal(judge(compiled, euro.subarray(0, 2)), 'beginning')
      assert.equal(judge(compiled, euro), 'complete')
      for (const invalid of [[0x80], [0xc0, 0x80], [0xe2, 0x28], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff]])
        assert.equal(judge(compiled, Uint8Array.from(invalid)), 'refused', `${invalid}`)
    }
  })

  it('decides whether an intersection can still be completed', () => {
    const letter = range('a', 'z')
    const short: Pattern = {
      kind: 'both',
      parts: [many(letter, 0, 3), {kind: 'sequence', parts: [many(letter, 2), text('z')]}],
    }
    const compiled = compileGrammar(grammar({s: lexeme(short)}))
    assert.deepEqual(judged(compiled, 'ab', 'abz', 'abc', 'zz'), ['beginning', 'complete', 'refused', 'beginning'])
    const none: Pattern = {kind: 'both', parts: [many(letter, 3), many(letter, 0, 2)]}
    assert.throws(() => compileGrammar(grammar({s: lexeme(none)})), {code: 'grammar_unsatisfiable'})
  })

  it('refuses grammars that are too large or too deep', () => {
    let deep: Expression = lexeme('a')
    for (let i = 0; i < 5000; i++) deep = sequence(deep, lexeme('b'))
    assert.throws(() => compileGrammar(grammar({s: deep})), {code: 'grammar_limit'})
    const wide: Expression = {kind: 'either', options: Array.from({length: 300_000}, (_, i) => lexeme(`${i}`))}
    assert.throws(() => compileGrammar(grammar({s: wide})), {code: 'grammar_limit'})
  })

  it('counts what rules share once', () => {
    const shared = lexeme({kind: 'either', options: Array.from({length: 900}, (_, i) => text(`${i}`))})
    const rules = Object.fromEntries(Array.from({length: 700}, (_, i) => [`r${i}`, sequence(lexeme(`${i}`), shared)]))
    const all: Expression = {kind: 'either', options: Object.keys(rules).map(rule)}
    assert.equal(judge(compileGrammar(grammar({s: all, ...rules})), '699899'), 'complete')
  })

  it('compiles in steps between which other work gets a turn', async () => {
    const names = Array.from({length: 2000}, (_, i) => `r${i}`)
    const rules = Object.fromEntries(
      names.map((name, i) => [name, sequence(lexeme(`"${name}": `), i === 1999 ? lexeme('1') : rule(names[i + 1]!))]),
    )
    const steps = compileInSteps(grammar(rules))
    let count = 0
    while (steps.next().done !== true) count++
    assert.ok(count > 2000, `${count} steps`)
    let turns = 0
    const counter = setInterval(() => turns++, 0)
    try {
      const inTurns = await stepsInTurns(compileInSteps(grammar(rules)))
      assert.equal(judge(inTurns, '"r0": "r1": '), 'beginning')
      for (let i = 0; turns === 0 && i < 100; i++) await stepsInTurns(compileInSteps(grammar(rules)))
    } finally {
      clearInterval(counter)
    }
    assert.ok(turns > 0)
    const stopped = AbortSignal.abort(new Error('The client has left.'))
    await assert.rejects(stepsInTurns(compileInSteps(grammar(rules)), stopped), /has left/)
  })

  it('leaves the state as it was when bytes are refused', () => {
    const matcher = compileGrammar(grammar({s: lexeme('abc')})).matcher()
    assert.equal(matcher.accept(Buffer.from('ab')), true)
    assert.equal(matcher.accept(Buffer.from('cd')), false)
    assert.equal(matcher.accept(Buffer.from('c')), true)
    assert.equal(matcher.isAccepting(), true)
  })
})

/** The letters of a shortest text with a beginning; none if it has more than four. */
function completion({automaton}: CompiledGrammar, beginning: string): string[] {
  let state = automaton.start
  for (const byte of Buffer.from(beginning)) state = automaton.step(state, byte)!
  let open = [{state, bytes: [...Buffer.from(beginning)]}]
  const seen = new Set([state])
  while ((open[0]?.bytes.length ?? 0) <= 16 && seen.size < 2000) {
    const done = open.find((each) => each.state.accepting)
    const letters = [...Buffer.from(done?.bytes ?? []).toString()]
    if (done !== undefined) return letters.length > 4 ? [] : letters
    open = open.flatMap((each) =>
      automaton.lexer.classes.bytes.flatMap((byte) => {
        const next = automaton.step(each.state, byte)
        if (next === null || seen.has(next)) return []
        seen.add(next)
        return [{state: next, bytes: [...each.bytes, byte]}]
      }),
    )
    assert.ok(open.length > 0, `"${beginning}" has no completion`)
  }
  return []
}
