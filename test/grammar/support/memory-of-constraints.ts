/**
 * Prints the memory that a dropped constraint with its grammar takes after collections of new objects only, bytes. Runs
 * with `--expose-gc`.
 */
import assert from 'node:assert/strict'
import {createConstraintSource, createTokenTrie, createVocabulary} from '../../../src/grammar/index.js'
import {compiled, jsonRules} from './build.js'

const {gc} = globalThis
assert.ok(gc !== undefined)
const tokens = ['', '"', 'a', '{'].map((text) => Buffer.from(text))
const vocabulary = createVocabulary(createTokenTrie({size: tokens.length, bytes: (token) => tokens[token]}))

function used(): number {
  for (let i = 0; i < 3; i++) gc?.({type: 'minor'})
  return process.memoryUsage().heapUsed
}

function grow(count: number): number {
  const before = used()
  for (let i = 0; i < count; i++) {
    const source = createConstraintSource(compiled(jsonRules), vocabulary, [0])
    assert.ok(source.start().accept(1) && source.bytes > 0)
  }
  return (used() - before) / count
}

grow(100)
gc()
process.stdout.write(`${grow(300)}`)
