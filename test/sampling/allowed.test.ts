import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {
  createSampler,
  defaultSampling,
  logSumExp,
  randomSource,
  type SamplingOptions,
  topLogits,
} from '../../src/sampling/index.js'
import {mostLikely} from '../../src/sampling/most-likely.js'

/** 70 tokens, the later the likelier. */
const logits = Float32Array.from({length: 70}, (_, i) => i / 10)
const greedy = (options: Partial<SamplingOptions> = {}, further: Parameters<typeof createSampler>[1] = []) =>
  createSampler({...defaultSampling, temperature: 0, ...options}, further)

/** A mask of tokens. */
const allowing = (...tokens: number[]): Uint32Array => {
  const mask = new Uint32Array(2)
  for (const token of tokens) mask[token >>> 5]! |= 1 << (token & 31)
  return mask
}

describe('sampling of allowed tokens', () => {
  it('selects only these, and none beyond the mask', () => {
    assert.equal(greedy()(logits, []), 69)
    assert.equal(greedy()(logits, [], allowing(3, 31, 40)), 40)
    assert.equal(greedy()(logits, [], allowing(31)), 31)
    assert.equal(greedy()(logits, [], Uint32Array.of(0xffffffff, 0xffffffff)), 63)
    const drawn = createSampler({...defaultSampling, temperature: 2, topK: 3, seed: 5})
    for (let i = 0; i < 50; i++) assert.ok([3, 31, 40].includes(drawn(logits, [], allowing(3, 31, 40))))
  })

  it('ignores forced tokens that are not allowed, and keeps to those that are', () => {
    assert.equal(greedy({logitBias: {9: 100}})(logits, [], allowing(3, 40)), 40)
    assert.equal(greedy({logitBias: {3: 100, 9: 100}})(logits, [], allowing(3, 40)), 3)
  })

  it('applies biases and penalties to them', () => {
    assert.equal(greedy({logitBias: {3: 50, 40: -50}})(logits, [], allowing(3, 40)), 3)
    assert.equal(greedy({presencePenalty: 90})(logits, [40], allowing(3, 40)), 3)
    assert.equal(greedy({logitBias: {40: -100}})(logits, [], allowing(3, 40)), 3)
  })

  it('fails if a bias bans all of them', () => {
    assert.throws(() => greedy({logitBias: {3: -100, 40: -100}})(logits, [], allowing(3, 40)), {
      code: 'bad_request',
      message: 'logit_bias bans every token that the format of the reply allows',
    })
  })

  it('drops rules of the model that exclude all of them, or that force others', () => {
    const excludes = (values: Float32Array) => void values.fill(-Infinity, 0, 50)
    const forces = (values: Float32Array) => {
      values.fill(-Infinity)
      values[60] = 0
    }
    for (const rule of [excludes, forces]) assert.equal(greedy({}, [rule])(logits, [], allowing(3, 40)), 40)
  })

  it('reads the most likely tokens alone where enough of them are allowed, and selects the same', () => {
    const random = randomSource(3)
    const unread = new Float32Array(300).fill(Number.NaN)
    let few = 0
    for (const [temperature, topK] of [
      [0, 0],
      [0.8, 5],
      [1.5, 40],
    ] as const) {
      const options = {...defaultSampling, temperature, topK, seed: 4}
      const [fromAll, fromTop, either] = [options, options, options].map((each) => createSampler(each))
      for (let round = 0; round < 300; round++) {
        const all = Float32Array.from(unread, () => Math.round((random() - 0.7) * 40) / 4)
        const ids = mostLikely(all, 64)
        const top = topLogits(
          BigInt64Array.from(ids, BigInt),
          Float32Array.from(ids, (id) => all[id]!),
          logSumExp(all),
        )
        const share = random()
        const allowed = new Uint32Array(10).fill(1)
        for (let id = 0; id < 300; id++) if (random() < share) allowed[id >>> 5]! |= 1 << (id & 31)
        const enough = ids.filter((id) => (allowed[id >>> 5]! >>> (id & 31)) & 1).length >= (topK || 1)
        const expected = fromAll!(all, [], allowed)
        assert.equal(either!(all, [], allowed, top), expected)
        if (enough) few++
        assert.equal(fromTop!(enough ? unread : all, [], allowed, top), expected)
      }
    }
    assert.ok(few > 300 && few < 900, `${few}`)
  })

  it('does not modify the logits', () => {
    const own = logits.slice()
    greedy({logitBias: {3: 100}})(own, [], allowing(3))
    assert.deepEqual(own, logits)
  })
})
