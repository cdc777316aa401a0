import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {loadCodeRank} from '../../src/cli/code-rank.js'

describe('the candidate that is a program', async () => {
  const rank = await loadCodeRank()

  const cases: readonly (readonly [
    name: string,
    candidates: readonly string[],
    raw: string,
    best: number | undefined,
  ])[] = [
    ['is none in prose', ['call the getter', 'call  the getter'], 'call the getter', undefined],
    ['is none without candidates', [], '', undefined],
    ['is not a comment', ['// just a comment', '# one'], 'just a comment', undefined],
    ['is not a construct that is skipped', ['import the function', '@route fn'], '', undefined],
    ['is the only one that parses', ['fn go open paren', 'fn go() { }', 'fn go('], 'fn go', 1],
    ['is the first of several without findings', ['x', 'fn go() { }', 'fn no() { }'], '', 1],
    ['has the fewest type errors', ['fn a() { b }', 'fn a() { }'], '', 1],
    ['has the fewest type errors, then warnings', ['fn a() { b; c }', 'fn a() { b }'], '', 1],
    // Each word rewards 3: 34 words outweigh a type error, and no number of words outweighs two.
    ['may have a type error with the words of the text', [`fn a() { ${'word'} }`, 'fn a() { }'], 'word '.repeat(34), 0],
    ['may have one, but not for fewer words', ['fn a() { word }', 'fn a() { }'], 'word '.repeat(33), 1],
    ['may have one, but not for short words', ['fn a() { wo }', 'fn a() { }'], 'wo '.repeat(99), 1],
    ['may not have two', ['fn a() { word; word2 }', 'fn a() { }'], 'word '.repeat(999), 1],
  ]
  for (const [name, candidates, raw, best] of cases) it(name, () => assert.equal(rank(candidates, raw), best))
})
