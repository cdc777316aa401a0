import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {
  type BeamScores,
  BeamSearch,
  type HypothesisRank,
  lengthPenalised,
  logSumExp,
  meanLogprob,
  TokenLogits,
} from '../../src/sampling/index.js'
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

/** The next tokens of a row without anything added. */
function plain(logits: Float32Array): BeamScores<undefined> {
  const total = logSumExp(logits)
  const logprobOf = (token: number) => logits[token]! - total
  return {logits: TokenLogits.of(logits), total, offset: 0, logprobOf, state: undefined, after: () => undefined}
}

const after = ({tokens}: {tokens: readonly number[]}) => plain(model(tokens))

const open = (width: number, patience = 1, rank: HypothesisRank = meanLogprob) =>
  new BeamSearch(width, end, undefined, patience, rank)

function search(width: number, most: number) {
  const beam = open(width)
  for (let length = 0; length < most && !beam.done; length++) beam.advance(beam.rows.map(after))
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
    const beam = open(3)
    const first = beam.advance([plain(model([]))])
    assert.deepEqual(
      first.sources,
      first.tokens.map(() => 0),
    )
    const rows = beam.rows.map(({tokens}) => [...tokens])
    const {tokens, sources} = beam.advance(rows.map((row) => plain(model(row))))
    assert.deepEqual(
      beam.rows.map((row) => row.tokens),
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
    const beam = open(2)
    beam.advance([plain(logitsOf(0, 0.6, 0.4, 0, 0))])
    const step = beam.advance([plain(logitsOf(0, 0.3, 0.3, 0.2, 0.2)), plain(logitsOf(0, 0, 0, 1, 0))])
    assert.deepEqual(step, {tokens: [3, 1], sources: [1, 0]})
  })

  it('ranks by what was added to a token, and returns the log-probability without it', () => {
    const beam = open(1)
    const logits = logitsOf(0, 0.6, 0.4, 0, 0)
    const raised = Float32Array.from(logits, (logit, token) => logit + (token === 2 ? 1 : 0))
    beam.advance([{...plain(logits), logits: TokenLogits.of(raised)}])
    const [found] = beam.hypotheses()
    assert.deepEqual(found?.tokens, [2])
    assert.ok(Math.abs((found?.logprob ?? 0) - Math.log(0.4)) < 1e-6)
  })

  it('continues the state of each hypothesis, and keeps that of a finished one', () => {
    const beam = new BeamSearch(1, end, '', 1, meanLogprob)
    const step = (state: string, logits: Float32Array) => {
      beam.advance([{...plain(logits), state, after: (token) => `${state}${token}`}])
      return beam.rows[0]?.state ?? ''
    }
    const state = step(step('', logitsOf(0, 0, 1, 0, 0)), logitsOf(0, 0, 0, 1, 0))
    step(state, logitsOf(1, 0, 0, 0, 0))
    assert.deepEqual(
      beam.hypotheses().map((found) => [found.tokens, found.state]),
      [[[2, 3], '23']],
    )
  })

  it('is done when the number of finished hypotheses reaches its width', () => {
    const beam = open(2)
    beam.advance([plain(logitsOf(0.6, 0.3, 0.1, 0, 0))])
    assert.equal(beam.done, false)
    beam.advance(beam.rows.map(() => plain(logitsOf(0.6, 0.3, 0.1, 0, 0))))
    assert.equal(beam.done, true)
  })

  it('is done after more finished hypotheses with more patience', () => {
    const steps = (patience: number) => {
      const beam = open(2, patience)
      let count = 0
      for (; !beam.done && count < 20; count++)
        beam.advance(
          beam.rows.map(() => plain(logitsOf(...Array.from({length: 5}, (_, i) => (i === end ? 0.6 : 0.1))))),
        )
      return count
    }
    // The first step finishes one hypothesis, and each later step two of them.
    assert.deepEqual([steps(1), steps(2), steps(3)], [2, 3, 4])
  })

  it('ranks by a penalty of the length: 0 prefers short texts, 1 nearly the mean', () => {
    const [short, long] = [
      {tokens: [1], logprob: -1},
      {tokens: Array<number>(7).fill(1), logprob: -1.9},
    ]
    assert.equal(lengthPenalised(1)(short), -1)
    assert.equal(lengthPenalised(1)(long), -0.95)
    assert.ok(lengthPenalised(0)(short) > lengthPenalised(0)(long))
  })

  it('is done when all hypotheses are finished, even if there are fewer than its width', () => {
    const beam = open(3)
    beam.advance([plain(logitsOf(1, 0, 0, 0, 0))])
    assert.equal(beam.done, true)
    assert.deepEqual(
      beam.hypotheses().map(({tokens}) => tokens),
      [[]],
    )
  })
})
