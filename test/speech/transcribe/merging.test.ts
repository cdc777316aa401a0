import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {Segment} from '../../../src/speech/index.js'
import {mergeOverlap} from '../../../src/speech/text/merge-overlap.js'
import {fitToSpeech} from '../../../src/speech/transcribe/fit-to-speech.js'
import {planChunk} from '../../../src/speech/transcribe/plan-chunk.js'

const segment = (text: string, startSec: number, endSec: number): Segment => ({
  startSec,
  endSec,
  text,
  tokens: [1],
  temperature: 0,
  avgLogprob: 0,
  compressionRatio: 1,
  noSpeechProb: 0,
})

/** A segment whose words last a second each. */
const timed = (text: string, startSec: number): Segment => {
  const words = text.split(' ').map((word, i) => ({
    word: ` ${word}`,
    startSec: startSec + i,
    endSec: startSec + i + 1,
    probability: 1,
  }))
  return {...segment(` ${text}`, startSec, startSec + words.length), words}
}

const texts = ({left, right}: ReturnType<typeof mergeOverlap>) =>
  [...left, ...right].map(({text}) => text.trim()).join(' ')

describe('text in the overlap of two chunks', () => {
  const cases: readonly (readonly [left: string, right: string, whole: string])[] = [
    ['one two three', 'three four', 'one two three four'],
    ['alpha beta', 'beta gamma', 'alpha beta gamma'],
    ['one two, three.', 'Two three four', 'one two, three four'],
    ['say it', 'again now', 'say it again now'],
  ]
  for (const [left, right, whole] of cases)
    it(`appears once: ${left} / ${right}`, () => {
      const merged = mergeOverlap([segment(left, 0, 10)], [segment(right, 9, 19)], {startSec: 9, endSec: 10})
      assert.equal(texts(merged), whole)
    })

  it('can be several words with a misrecognised one at the cut', () => {
    const [left, right] = [timed('a b c d e fo', 0), timed('c d e four g', 2)]
    assert.equal(texts(mergeOverlap([left], [right], {startSec: 2, endSec: 6})), 'a b c d e four g')
  })

  it('is cut in the middle if no words match', () => {
    const [left, right] = [timed('a b c x', 0), timed('y d e f', 2)]
    assert.equal(texts(mergeOverlap([left], [right], {startSec: 2, endSec: 4})), 'a b c d e f')
  })

  it('keeps repeated words far from the cut', () => {
    const [left, right] = [timed('go go a b c d e f g h', 0), timed('h i go go', 9)]
    assert.equal(texts(mergeOverlap([left], [right], {startSec: 9, endSec: 10})), 'go go a b c d e f g h i go go')
  })

  it('keeps the timings of the remaining words, and removes segments without words', () => {
    const merged = mergeOverlap([timed('a b', 0), timed('c', 2)], [timed('c d', 2)], {startSec: 2, endSec: 3})
    assert.equal(merged.left.length, 2)
    assert.deepEqual(
      merged.right.map(({startSec, endSec}) => [startSec, endSec]),
      [[3, 4]],
    )
    const gone = mergeOverlap([timed('a', 0)], [timed('a', 0), timed('b', 1)], {startSec: 0, endSec: 1})
    assert.equal(texts(gone), 'a b')
  })
})

describe('a chunk', () => {
  const size = {chunk: 40, overlap: 10, maxLength: 60}
  /** Chunks of a recording whose positions of speech are unknown. */
  function windows(length: number, changes: Partial<typeof size> = {}) {
    const all: [number, number][] = []
    for (let from: number | undefined = 0; from !== undefined; ) {
      const plan = planChunk(from, {...size, ...changes}, length, undefined)
      all.push([from, Math.min(plan.to, length)])
      from = plan.next
    }
    return all
  }

  it('overlaps the previous one, and the last one includes a short remainder', () => {
    assert.deepEqual(windows(100), [
      [0, 40],
      [30, 70],
      [60, 100],
    ])
    assert.deepEqual(windows(100, {overlap: 0}), [
      [0, 40],
      [40, 80],
      [80, 100],
    ])
    assert.deepEqual(windows(45), [
      [0, 40],
      [30, 45],
    ])
    assert.deepEqual(windows(45, {overlap: 0}), [[0, 45]])
    assert.deepEqual(windows(45, {overlap: 0, maxLength: 40}), [
      [0, 40],
      [40, 45],
    ])
    assert.deepEqual(windows(30), [[0, 30]])
  })

  it('never overlaps by more than two fifths', () => {
    assert.deepEqual(windows(64, {overlap: 39, maxLength: 40})[1]?.[0], 24)
  })

  it('ends in the longest pause of its second half', () => {
    const seconds = (value: number) => 16_000 * value
    const speech = [
      {start: 0, end: seconds(4)},
      {start: seconds(4.3), end: seconds(5)},
      {start: seconds(6), end: seconds(9)},
    ]
    const chunks = {chunk: seconds(7), overlap: seconds(0.5), maxLength: seconds(30)}
    const plan = planChunk(0, chunks, undefined, speech)
    assert.deepEqual(plan, {to: seconds(5.5), next: seconds(5.5)})
    const spoken = planChunk(0, chunks, undefined, [{start: 0, end: seconds(20)}])
    assert.deepEqual(spoken, {to: seconds(7), next: seconds(6.5)})
  })
})

describe('word timings and detected speech', () => {
  const speech = [
    {startSec: 1, endSec: 2},
    {startSec: 3, endSec: 4},
  ]
  const words = (...times: [number, number][]) =>
    fitToSpeech(
      {
        ...segment(' a b', 0, 5),
        words: times.map(([startSec, endSec]) => ({word: ' a', startSec, endSec, probability: 1})),
      },
      speech,
    )

  it('are limited to the speech region of the word', () => {
    const fitted = words([0, 1.5], [2.6, 3.4], [3.4, 5])
    assert.deepEqual(
      fitted.words?.map(({startSec, endSec}) => [startSec, endSec]),
      [
        [1, 1.5],
        [3, 3.4],
        [3.4, 4],
      ],
    )
    assert.deepEqual([fitted.startSec, fitted.endSec], [1, 4])
  })

  it('without duration extend to the next word, or to the end of the speech', () => {
    const fitted = words([0.9, 0.9], [1.4, 1.4])
    assert.deepEqual(
      fitted.words?.map(({startSec, endSec}) => [startSec, endSec]),
      [
        [1, 1.4],
        [1.4, 2],
      ],
    )
  })

  it('are kept far from all speech', () => {
    assert.deepEqual(
      words([7, 8]).words?.map(({startSec}) => startSec),
      [7],
    )
  })

  it('of a segment without words are its start and end', () => {
    const {startSec, endSec} = fitToSpeech(segment('a', 0, 5), speech)
    assert.deepEqual([startSec, endSec], [1, 4])
    assert.deepEqual(fitToSpeech(segment('a', 0, 5), []), segment('a', 0, 5))
  })
})
