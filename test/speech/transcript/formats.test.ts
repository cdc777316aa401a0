import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {Segment, Transcript} from '../../../src/speech/index.js'
import {createFormat, type TranscriptFormatName} from '../../../src/speech/transcript/formats.js'
import {subtitleBlocks} from '../../../src/speech/transcript/subtitle-blocks.js'
import {timestamp} from '../../../src/speech/transcript/timestamp.js'
import {writeTranscript} from '../../../src/speech/transcript/write-transcript.js'

const segment = (text: string, startSec: number, endSec: number, words?: Segment['words']): Segment => ({
  startSec,
  endSec,
  text,
  tokens: [50364, 2425, 50484],
  temperature: 0,
  avgLogprob: -0.28,
  compressionRatio: 0.6,
  noSpeechProb: 0.01,
  ...(words === undefined ? {} : {words}),
})

const transcript = (...segments: Segment[]): Transcript => ({
  task: 'transcribe',
  language: 'en',
  languageProbability: 1,
  durationSec: 7.42,
  text: segments.map(({text}) => text).join(''),
  segments,
  alternatives: [],
})

const write = (name: TranscriptFormatName, ...segments: Segment[]) =>
  writeTranscript(name, transcript(...segments)).text

describe('a transcript', () => {
  const [hello, world] = [segment(' Hello there.', 0, 2.4), segment(' How are you?', 2.4, 3661.0016)]
  const blank = segment('  ', 3, 4)

  it('as text is a line per segment', () => {
    assert.equal(write('text', hello, blank, world), 'Hello there.\nHow are you?\n')
    assert.equal(write('text'), '')
  })

  it('as SRT numbers its blocks without gaps', () => {
    assert.equal(
      write('srt', hello, blank, world),
      '1\n00:00:00,000 --> 00:00:02,400\nHello there.\n\n2\n00:00:02,400 --> 01:01:01,002\nHow are you?\n\n',
    )
  })

  it('as WebVTT has a header, and no arrow in its text', () => {
    assert.equal(
      write('vtt', segment('a --> b & <c>', 0, 1)),
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na --&gt; b &amp; &lt;c>\n\n',
    )
    assert.equal(write('vtt'), 'WEBVTT\n\n')
  })

  it('as TSV has milliseconds, and no tab in its text', () => {
    assert.equal(write('tsv', segment(' a\tb', 0, 1.5)), 'start\tend\ttext\n0\t1500\ta b\n')
  })

  it('as JSON is its text', () =>
    assert.deepEqual(JSON.parse(write('json', hello, world)), {text: 'Hello there. How are you?'}))

  it('as verbose JSON is what OpenAI answers', () => {
    const words = [
      {word: ' Hello', startSec: 0, endSec: 0.42, probability: 0.9},
      {word: ' there.', startSec: 0.42, endSec: 0.9, probability: 0.8},
    ]
    assert.deepEqual(JSON.parse(write('verbose_json', {...hello, words})), {
      task: 'transcribe',
      language: 'english',
      duration: 7.42,
      text: 'Hello there.',
      segments: [
        {
          id: 0,
          seek: 0,
          start: 0,
          end: 2.4,
          text: ' Hello there.',
          tokens: [50364, 2425, 50484],
          temperature: 0,
          avg_logprob: -0.28,
          compression_ratio: 0.6,
          no_speech_prob: 0.01,
        },
      ],
      words: [
        {word: 'Hello', start: 0, end: 0.42},
        {word: 'there.', start: 0.42, end: 0.9},
      ],
      usage: {type: 'duration', seconds: 8},
    })
    assert.equal(JSON.parse(write('verbose_json', hello)).words, undefined)
  })

  it('as NDJSON is an object per segment', () => {
    const lines = write('ndjson', hello, world)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      lines.map(({id, text}) => [id, text]),
      [
        [0, ' Hello there.'],
        [1, ' How are you?'],
      ],
    )
  })

  it('has blocks that never overlap and always last', () => {
    const text = write('srt', segment('a', 0, 2), segment('b', 1.5, 1.8), segment('c', 1.9, 1.9))
    const times = Array.from(text.matchAll(/(\d\d,\d{3}) --> \d\d:\d\d:(\d\d,\d{3})/g), ([, from, to]) => [from, to])
    assert.deepEqual(times, [
      ['00,000', '02,000'],
      ['02,000', '02,001'],
      ['02,001', '02,002'],
    ])
  })

  it('says what kind of file it makes', () => {
    assert.deepEqual([createFormat('srt').extension, createFormat('vtt').mediaType], ['.srt', 'text/vtt'])
  })
})

describe('a time in subtitles', () => {
  for (const [milliseconds, written] of [
    [0, '00:00:00,000'],
    [59_999.7, '00:01:00,000'],
    [3_599_999.9, '01:00:00,000'],
    [360_000_000, '100:00:00,000'],
    [-5, '00:00:00,000'],
  ] as const)
    it(`${milliseconds} ms is ${written}`, () => assert.equal(timestamp(milliseconds, ','), written))
})

describe('a subtitle', () => {
  const shape = {lineWidth: 10, maxLines: 2}
  const long = 'one two three four five six seven'

  it('is broken at words, and shown in several blocks where it does not fit; no text is lost', () => {
    const blocks = subtitleBlocks(segment(` ${long}`, 0, 10), shape)
    assert.deepEqual(
      blocks.map(({lines}) => lines),
      [
        ['one two', 'three four'],
        ['five six', 'seven'],
      ],
    )
    assert.deepEqual([blocks[0]?.startMs, blocks[0]?.endMs === blocks[1]?.startMs, blocks[1]?.endMs], [0, true, 10_000])
  })

  it('is shown at the times of its words, where they are those of its text', () => {
    const words = long.split(' ').map((word, i) => ({word: ` ${word}`, startSec: i, endSec: i + 0.5, probability: 1}))
    const [first, second] = subtitleBlocks(segment(` ${long}`, 0, 7, words), shape)
    assert.deepEqual([first?.startMs, first?.endMs, second?.startMs, second?.endMs], [0, 3500, 4000, 6500])
    const [changed] = subtitleBlocks(segment(' other words altogether', 0, 7, words), shape)
    assert.deepEqual(changed?.lines, ['other', 'words'])
  })

  it('with a word longer than a line shows that word alone', () => {
    const [block] = subtitleBlocks(segment('a incomprehensibly b', 0, 1), shape)
    assert.deepEqual(block?.lines, ['a', 'incomprehensibly'])
  })

  it('in a script without blanks is broken at characters', () => {
    const [first, second] = subtitleBlocks(segment('今日はとても良い天気ですね、散歩に行きましょう。', 0, 2), shape)
    for (const line of [...(first?.lines ?? []), ...(second?.lines ?? [])]) assert.ok(line.length <= 10, line)
    assert.equal(
      [first, second].flatMap((block) => block?.lines ?? []).join(''),
      '今日はとても良い天気ですね、散歩に行きましょう。'.slice(0, 40),
    )
  })

  it('of nothing is none', () => assert.deepEqual(subtitleBlocks(segment('  ', 0, 1), shape), []))
})
