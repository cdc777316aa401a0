import assert from 'node:assert/strict'
import {type CompiledGrammar, compileGrammar} from '../../../src/grammar/index.js'
import {randomSource} from '../../../src/sampling/index.js'
import {alphabet, otherLetter, randomGrammar} from './random-grammar.js'
import {textsOf, wordsOf} from './words.js'

/** Whether the bytes are a text of the grammar, the beginning of one, or neither. */
export function judge(compiled: CompiledGrammar, bytes: string | Uint8Array): 'complete' | 'beginning' | 'refused' {
  const matcher = compiled.matcher()
  if (!matcher.accept(Buffer.from(bytes as Uint8Array))) return 'refused'
  return matcher.isAccepting() ? 'complete' : 'beginning'
}

/** Compares the short texts that random grammars accept with those that their rules produce. */
export function assertAcceptsRandomGrammars({seeds, first = 1}: {seeds: number; first?: number}): void {
  let checked = 0
  for (let seed = first; seed < first + seeds; seed++) {
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
  assert.ok(checked > 13 * seeds, `${checked} texts were compared.`)
}

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
