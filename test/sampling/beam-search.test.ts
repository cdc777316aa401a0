import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {BeamSearch, meanLogprob} from '../../src/sampling/index.js'
import {randomFloats} from '../support/random-floats.js'

const size = 5
const end = 0

/** Log-probabilities of the next token after any tokens: pseudorandom, but deterministic. */
function model(tokens: readonly number[]): Float32Array {
  const seed = tokens.reduce((sum, token) => sum * 31 + token + 7, 17)
  const logits = randomFloats(seed)(size).map((x) => 2 * x)
  const total = Math.log(logits.reduce((sum, x) => sum + Math.exp(x), 0))
  return logits.map((x) => x - total)
}

/** Logits of the given probabilities; a probability of 0 excludes the token. */
const logitsOf = (...probabilities: number[]) => Float32Array.from(probabilities, Math.log)

function search(width: number, most: number) {
  const beam = new BeamSearch(width, end)
  for (let length = 0; length < most && !beam.done; length++) beam.advance(beam.rows.map(model))
  return beam.hypotheses()
}

/** All finished texts of at most `most` tokens, with their log-probabilities. */
function everything(most: number): {tokens: number[]; logprob: number}[] {
  const grow = (tokens: number[], logprob: number): {tokens: number[]; logprob: number}[] => {
    const next = model(tokens)
    const ended = {tokens, logprob: logprob + next[end]!}
    if (tokens.length === most - 1) return [ended]
    return [ended, ...Array.from({length: size - 1}, (_, i) => grow([...tokens, i + 1], logprob + next[i + 1]!)).flat()]
  }
  return grow([], 0)
}

describe('BeamSearch', () => {
  it('finds the most likely text if it is wide enough', () => {
    const best = everything(4).sort((a, b) => meanLogprob(b) - meanLogprob(a))[0]
    const found = search(400, 4).find(({tokens}) => tokens.join() === best?.tokens.join())
    assert.ok(found !== undefined && Math.abs(found.logprob - (best?.logprob ?? 0)) < 1e-4)
  })

  it('is greedy with a width of 1', () => {
    const [found] = search(1, 8)
    const greedy: number[] = []
    for (;;) {
      const next = model(greedy)
      const token = next.reduce((best, x, i) => (x > next[best]! ? i : best), 0)
      if (token === end || greedy.length === 8) break
      greedy.push(token)
    }
    assert.deepEqual(found?.tokens, greedy)
  })

  it('returns the log-probability of each token and their sum', () => {
    for (const {tokens, logprobs, logprob} of search(4, 6)) {
      assert.equal(logprobs.length, tokens.length)
      for (const [i, value] of logprobs.entries())
        assert.ok(Math.abs(value - model(tokens.slice(0, i))[tokens[i] as number]!) < 1e-4)
      assert.ok(logprob <= logprobs.reduce((sum, x) => sum + x, 0) + 1e-6)
    }
  })

  it('returns the source row of each hypothesis', () => {
    const beam = new BeamSearch(3, end)
    const first = beam.advance([model([])])
    assert.deepEqual(
      first.sources,
      first.tokens.map(() => 0),
    )
    const rows = beam.rows.map((row) => [...row])
    const {tokens, sources} = beam.advance(rows.map(model))
    assert.deepEqual(
      beam.rows,
      tokens.map((token, i) => [...(rows[sources[i] as number] as number[]), token]),
    )
  })

  it('returns as many hypotheses as its width, best first', () => {
    const found = search(5, 6)
    assert.equal(found.length, 5)
    const scores = found.map(meanLogprob)
    assert.deepEqual(
      scores,
      [...scores].sort((a, b) => b - a),
    )
  })

  it('selects the most likely continuations over all rows', () => {
    const beam = new BeamSearch(2, end)
    beam.advance([logitsOf(0, 0.6, 0.4, 0, 0)])
    const step = beam.advance([logitsOf(0, 0.3, 0.3, 0.2, 0.2), logitsOf(0, 0, 0, 1, 0)])
    assert.deepEqual(step, {tokens: [3, 1], sources: [1, 0]})
  })

  it('is done when the number of finished hypotheses reaches its width', () => {
    const beam = new BeamSearch(2, end)
    beam.advance([logitsOf(0.6, 0.3, 0.1, 0, 0)])
    assert.equal(beam.done, false)
    beam.advance(beam.rows.map(() => logitsOf(0.6, 0.3, 0.1, 0, 0)))
    assert.equal(beam.done, true)
  })

  it('is done when all hypotheses are finished, even if there are fewer than its width', () => {
    const beam = new BeamSearch(3, end)
    beam.advance([logitsOf(1, 0, 0, 0, 0)])
    assert.equal(beam.done, true)
    assert.deepEqual(
      beam.hypotheses().map(({tokens}) => tokens),
      [[]],
    )
  })
})
