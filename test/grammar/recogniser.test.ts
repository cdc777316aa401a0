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
import {either, grammar, lexeme, many, range, rule, sequence, text} from './support/build.js'
import {assertAcceptsRandomGrammars, judge} from './support/random-grammars-campaign.js'

const empty = sequence()

const judged = (compiled: CompiledGrammar, ...texts: string[]) => texts.map((each) => judge(compiled, each))

describe('compileGrammar', () => {
  // `random-grammars.slow.ts` tries more of them.
  it('accepts the texts of random grammars, and no others', () => assertAcceptsRandomGrammars({seeds: 50}))

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
