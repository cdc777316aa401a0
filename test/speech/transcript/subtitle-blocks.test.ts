import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {subtitleBlocks, type TimedText} from '../../../src/speech/transcript/subtitle-blocks.js'

const linesOf = (text: string, lineWidth: number, maxLines = 2) =>
  subtitleBlocks({text, startSec: 0, endSec: 10}, {lineWidth, maxLines}).map(({lines}) => lines)

const speech =
  ' And so, my fellow Americans, ask not what your country can do for you; ask what you can do for your country. ' +
  'My fellow citizens of the world, ask not what America will do for you.'

describe('a segment that is too long for the screen', () => {
  const blocks = subtitleBlocks({text: speech, startSec: 3, endSec: 15})

  it('loses no word', () => {
    assert.equal(blocks.flatMap(({lines}) => lines).join(' '), speech.trim())
  })

  it('has lines of at most 42 characters, at most 2 at once', () => {
    assert.ok(blocks.length > 1)
    assert.ok(blocks.every(({lines}) => lines.length <= 2))
    assert.ok(blocks.every(({lines}) => lines.every((line) => line.length <= 42)))
  })

  it('is shown from its start to its end, block by block', () => {
    assert.equal(blocks[0]?.startMs, 3000)
    assert.equal(blocks.at(-1)?.endMs, 15_000)
    for (const [i, {startMs, endMs}] of blocks.entries()) {
      assert.ok(endMs > startMs)
      assert.ok(startMs >= (blocks[i - 1]?.endMs ?? 0))
    }
  })

  it('is split at its word timings if they are known', () => {
    const words = ['one', 'two', 'three'].map((word, i) => ({
      word: ` ${word}`,
      startSec: 10 * i,
      endSec: 10 * i + 1,
      probability: 1,
    }))
    const timed: TimedText = {text: ' one two three', startSec: 0, endSec: 30, words}
    assert.deepEqual(subtitleBlocks(timed, {lineWidth: 5, maxLines: 1}), [
      {startMs: 0, endMs: 1000, lines: ['one']},
      {startMs: 10_000, endMs: 11_000, lines: ['two']},
      {startMs: 20_000, endMs: 21_000, lines: ['three']},
    ])
  })

  it('is split by characters if its words no longer match the text', () => {
    const words = [{word: ' won', startSec: 0, endSec: 9, probability: 1}]
    const refined: TimedText = {text: 'one two', startSec: 0, endSec: 7, words}
    assert.deepEqual(subtitleBlocks(refined, {lineWidth: 3, maxLines: 1}), [
      {startMs: 0, endMs: 3000, lines: ['one']},
      {startMs: 3000, endMs: 7000, lines: ['two']},
    ])
  })
})

describe('the lines of a subtitle', () => {
  const cases: readonly [string, string, number, string[][]][] = [
    ['are filled before the next begins', 'aa bb cc dd', 5, [['aa bb', 'cc dd']]],
    ['keep a word whole that is longer than they are', 'a incomprehensible b', 6, [['a', 'incomprehensible'], ['b']]],
    ['have no breaks of the text', 'a\n\nb', 10, [['a b']]],
    ['are broken between characters in Chinese', '今天天气很好我们去公园', 4, [['今天天气', '很好我们'], ['去公园']]],
    ['do not begin with a comma or a long vowel', '天天，コーヒー', 4, [['天天，', 'コーヒー']]],
    ['do not end with an opening bracket', '天天「気」', 3, [['天天', '「気」']]],
    ['keep a Latin word whole in Chinese', '我们 JavaScript 好', 10, [['我们', 'JavaScript'], ['好']]],
    ['count a character outside of the basic plane once', '𠀀𠀀𠀀𠀀', 4, [['𠀀𠀀𠀀𠀀']]],
  ]
  for (const [title, text, width, expected] of cases)
    it(title, () => {
      assert.deepEqual(linesOf(text, width), expected)
    })

  it('are empty without text', () => {
    assert.deepEqual(linesOf('  \n ', 42), [])
  })
})

describe('subtitles with word timings', () => {
  const word = (text: string, startSec: number, endSec: number) => ({word: text, startSec, endSec, probability: 1})
  const words = [word(' We', 0, 0.5), word(' are,', 0.5, 1), word(' are', 1.5, 2), word(' here.', 2, 3)]
  const timed: TimedText = {text: ' We are, are here.', startSec: 0, endSec: 3, words}

  it('have at most N words, as with --max_words_per_line N of openai-whisper', () => {
    assert.deepEqual(subtitleBlocks(timed, {maxWords: 3}), [
      {startMs: 0, endMs: 2000, lines: ['We are, are']},
      {startMs: 2000, endMs: 3000, lines: ['here.']},
    ])
  })

  it('have one word each with one line of width 1, as with -ml 1 -sow of whisper.cpp', () => {
    const blocks = subtitleBlocks(timed, {lineWidth: 1, maxLines: 1})
    assert.deepEqual(
      blocks.map(({startMs, endMs, lines}) => [startMs, endMs, ...lines]),
      words.map(({word, startSec, endSec}) => [1000 * startSec, 1000 * endSec, word.trim()]),
    )
  })

  it('are repeated for each word and for each pause, as with --highlight_words of openai-whisper', () => {
    const lines = ['We are,', 'are here.']
    assert.deepEqual(subtitleBlocks(timed, {lineWidth: 9, highlightWords: true}), [
      {startMs: 0, endMs: 500, lines, spoken: {line: 0, from: 0, to: 2}},
      {startMs: 500, endMs: 1000, lines, spoken: {line: 0, from: 3, to: 7}},
      {startMs: 1000, endMs: 1500, lines},
      {startMs: 1500, endMs: 2000, lines, spoken: {line: 1, from: 0, to: 3}},
      {startMs: 2000, endMs: 3000, lines, spoken: {line: 1, from: 4, to: 9}},
    ])
  })
})
