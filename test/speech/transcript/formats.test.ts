import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {Segment} from '../../../src/speech/model/model.js'
import {createFormat, type TranscriptFormatName} from '../../../src/speech/transcript/formats.js'
import type {SubtitleShape} from '../../../src/speech/transcript/subtitle-blocks.js'
import {timestamp} from '../../../src/speech/transcript/timestamp.js'
import type {Transcript} from '../../../src/speech/transcript/transcript.js'

const segment = (startSec: number, endSec: number, text: string, more: Partial<Segment> = {}): Segment => ({
  startSec,
  endSec,
  text,
  tokens: [1, 2],
  temperature: 0,
  avgLogprob: -0.28,
  compressionRatio: 0.6,
  noSpeechProb: 0.01,
  ...more,
})

const transcript = (segments: readonly Segment[], more: Partial<Transcript> = {}): Transcript => ({
  task: 'transcribe',
  language: 'en',
  languageProbability: 1,
  durationSec: 7.42,
  text: segments.map(({text}) => text).join(''),
  segments,
  alternatives: [],
  ...more,
})

function written(name: TranscriptFormatName, whole: Transcript, shape?: SubtitleShape): string {
  const format = createFormat(name, shape)
  return format.header() + whole.segments.map((each) => format.segment(each)).join('') + format.footer(whole)
}

const greeting = transcript([segment(0, 2.4, ' Hello there.'), segment(2.4, 3, '  '), segment(3, 5, ' How are you?')])

describe('a transcript', () => {
  const cases: readonly [TranscriptFormatName, string][] = [
    ['text', 'Hello there.\nHow are you?\n'],
    ['json', '{"text":"Hello there.   How are you?"}\n'],
    ['srt', '1\n00:00:00,000 --> 00:00:02,400\nHello there.\n\n2\n00:00:03,000 --> 00:00:05,000\nHow are you?\n\n'],
    ['vtt', 'WEBVTT\n\n00:00:00.000 --> 00:00:02.400\nHello there.\n\n00:00:03.000 --> 00:00:05.000\nHow are you?\n\n'],
    ['csv', 'start,end,text\n0,2400,"Hello there."\n3000,5000,"How are you?"\n'],
    ['lrc', '[00:00.00]Hello there.\n[00:03.00]How are you?\n'],
    ['tsv', 'start\tend\ttext\n0\t2400\tHello there.\n3000\t5000\tHow are you?\n'],
  ]
  for (const [name, expected] of cases)
    it(`is written as ${name}, without its empty segments`, () => {
      assert.equal(written(name, greeting), expected)
    })

  const words = ([' Yes', ' of', ' course.'] as const).map((word, i) => ({
    word,
    startSec: 2.4 + i / 10,
    endSec: 2.5 + i / 10,
    probability: 1,
  }))
  const call = transcript([
    segment(0, 2.4, ' Hello there.', {speaker: 'Ann "A" <1>'}),
    segment(1, 2, ' Hi.', {speaker: 'Bob'}),
    segment(2.4, 3, ' Yes of course.', {speaker: 'Bob', words}),
    segment(2.6, 2.7, ' ', {speaker: 'Bob'}),
  ])
  const spoken: readonly [TranscriptFormatName, string][] = [
    ['text', 'Ann "A" <1>: Hello there.\nBob: Hi.\nYes of course.\n'],
    [
      'srt',
      '1\n00:00:00,000 --> 00:00:02,400\nAnn "A" <1>: Hello there.\n\n2\n00:00:01,000 --> 00:00:02,000\nBob: Hi.\n\n' +
        '3\n00:00:02,400 --> 00:00:02,700\nBob: Yes of course.\n\n',
    ],
    [
      'vtt',
      'WEBVTT\n\n00:00:00.000 --> 00:00:02.400\n<v Ann "A" &lt;1&gt;>Hello there.\n\n' +
        '00:00:01.000 --> 00:00:02.000\n<v Bob>Hi.\n\n00:00:02.400 --> 00:00:02.700\n<v Bob>Yes of course.\n\n',
    ],
    [
      'csv',
      'start,end,speaker,text\n0,2400,"Ann ""A"" <1>","Hello there."\n1000,2000,"Bob","Hi."\n' +
        '2400,3000,"Bob","Yes of course."\n',
    ],
    ['lrc', '[00:00.00]Ann "A" <1>: Hello there.\n[00:01.00]Bob: Hi.\n[00:02.40]Bob: Yes of course.\n'],
    [
      'tsv',
      'start\tend\tspeaker\ttext\n0\t2400\tAnn "A" <1>\tHello there.\n1000\t2000\tBob\tHi.\n' +
        '2400\t3000\tBob\tYes of course.\n',
    ],
  ]
  for (const [name, expected] of spoken)
    it(`has the speaker of each segment in ${name}`, () => {
      assert.equal(written(name, call), expected)
    })

  it('has the speaker of each segment in verbose_json and ndjson', () => {
    const speakers = ['Ann "A" <1>', 'Bob', 'Bob', 'Bob']
    const {segments} = JSON.parse(written('verbose_json', call))
    const rows = written('ndjson', call)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    for (const list of [segments, rows])
      assert.deepEqual(
        list.map(({speaker}: {speaker: string}) => speaker),
        speakers,
      )
  })

  it('matches the response of OpenAI in verbose_json', () => {
    const words = [
      {word: ' Hello', startSec: 0, endSec: 0.42, probability: 0.9},
      {word: ' there.', startSec: 0.42, endSec: 0.9, probability: 0.8},
    ]
    const answer = JSON.parse(written('verbose_json', transcript([segment(0, 2.4, ' Hello there.', {words})])))
    assert.deepEqual(answer, {
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
          tokens: [1, 2],
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
  })

  it('has no words in verbose_json without word timestamps, and an empty list without speech', () => {
    assert.equal('words' in JSON.parse(written('verbose_json', greeting)), false)
    const silence = JSON.parse(written('verbose_json', transcript([])))
    assert.deepEqual([silence.text, silence.segments], ['', []])
  })

  it('is an object per segment in ndjson, with the probability of each word', () => {
    const words = [{word: ' Yes', startSec: 1, endSec: 1.5, probability: 0.75}]
    const lines = written('ndjson', transcript([segment(0, 1, ' No'), segment(1, 2, ' Yes', {words})])).trimEnd()
    const [first, second] = lines.split('\n').map((line) => JSON.parse(line))
    assert.deepEqual([first.id, first.text, 'words' in first], [0, ' No', false])
    assert.deepEqual([second.id, second.start, second.end], [1, 1, 2])
    assert.deepEqual(second.words, [{word: 'Yes', start: 1, end: 1.5, probability: 0.75}])
  })

  it('has one line per segment in text and tsv, whatever the segment contains', () => {
    const lines = transcript([segment(0, 1, ' one\n\ntwo\tthree\n')])
    assert.equal(written('text', lines), 'one two three\n')
    assert.equal(written('tsv', lines), 'start\tend\ttext\n0\t1000\tone two three\n')
  })

  it('quotes texts in csv, and counts minutes beyond an hour in lrc', () => {
    const quoted = transcript([segment(3725.678, 3727, ' say "yes", twice')])
    assert.equal(written('csv', quoted), 'start,end,text\n3725678,3727000,"say ""yes"", twice"\n')
    assert.equal(written('lrc', quoted), '[62:05.68]say "yes", twice\n')
  })
})

describe('subtitles', () => {
  it('escape text that WebVTT would parse as a time line or a tag', () => {
    const arrow = transcript([segment(0, 1, ' a --> b && <i>')])
    assert.equal(written('vtt', arrow).split('\n')[3], 'a --&gt; b &amp;&amp; &lt;i>')
  })

  it('underline the spoken word, as with --highlight_words of openai-whisper', () => {
    const words = [' R', ' &', ' D'].map((word, i) => ({word, startSec: i, endSec: i + 1, probability: 1}))
    const whole = transcript([segment(0, 3, ' R & D', {words})])
    const texts = (name: TranscriptFormatName) =>
      written(name, whole, {highlightWords: true})
        .split('\n')
        .filter((line) => line.includes('<u>'))
    assert.deepEqual(texts('srt'), ['<u>R</u> & D', 'R <u>&</u> D', 'R & <u>D</u>'])
    assert.deepEqual(texts('vtt'), ['<u>R</u> &amp; D', 'R <u>&amp;</u> D', 'R &amp; <u>D</u>'])
  })

  it('never overlap and always have a duration, even if segments do not', () => {
    const whole = transcript([segment(0, 2, ' one'), segment(1.5, 1.5, ' two'), segment(1.8, 4, ' three')])
    const times = written('srt', whole)
      .split('\n')
      .filter((line) => line.includes(' --> '))
    assert.deepEqual(times, [
      '00:00:00,000 --> 00:00:02,000',
      '00:00:02,000 --> 00:00:02,001',
      '00:00:02,001 --> 00:00:04,000',
    ])
  })

  it('show a text without segments for the entire duration', () => {
    const whole = transcript([], {text: ' Hello there.'})
    assert.equal(written('srt', whole), '1\n00:00:00,000 --> 00:00:07,420\nHello there.\n\n')
  })

  it('of silence are a valid file without blocks', () => {
    assert.equal(written('srt', transcript([])), '\n')
    assert.equal(written('vtt', transcript([])), 'WEBVTT\n\n')
  })

  it('are numbered from 1 in each transcript', () => {
    const [first, second] = [createFormat('srt'), createFormat('srt')]
    first.segment(segment(0, 1, 'a'))
    assert.match(second.segment(segment(0, 1, 'a')), /^1\n/)
  })
})

describe('a time of a subtitle', () => {
  const cases: readonly [number, string][] = [
    [0, '00:00:00,000'],
    [59_999.6, '00:01:00,000'],
    [3_599_999.5, '01:00:00,000'],
    [3_723_004, '01:02:03,004'],
    [360_000_000, '100:00:00,000'],
    [-5, '00:00:00,000'],
  ]
  for (const [milliseconds, expected] of cases)
    it(`of ${milliseconds} ms is ${expected}`, () => {
      assert.equal(timestamp(milliseconds, ','), expected)
    })
})
