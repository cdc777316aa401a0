import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {compareSubtitles} from '../../../src/speech/evaluation/compare-subtitles.js'
import {parseSubtitles, timingOffsetMs} from '../../../src/speech/evaluation/subtitle-parser.js'
import {createFormat} from '../../../src/speech/transcript/formats.js'

const hello = {startMs: 1000, endMs: 2500, text: 'Hello there'}

describe('a subtitle file', () => {
  const cases: readonly [string, string][] = [
    ['as SRT', '1\n00:00:01,000 --> 00:00:02,500\nHello there\n'],
    [
      'with the line ends of Windows and a byte order mark',
      '\uFEFF1\r\n00:00:01,000 --> 00:00:02,500\r\nHello there\r\n\r\n',
    ],
    ['with points in its times', '1\n00:00:01.000 --> 00:00:02.500\nHello there'],
    ['without numbers', '00:00:01,000 --> 00:00:02,500\nHello there'],
    ['without hours', '00:01.000 --> 00:02.500\nHello there'],
    ['with short fractions', '00:00:01,0 --> 00:00:02,5\nHello there'],
    ['with text on two lines', '1\n00:00:01,000 --> 00:00:02,500\nHello\nthere'],
    ['with tags', '1\n00:00:01,000 --> 00:00:02,500\n{\\an8}<i>Hello</i> <font color="red">there</font>'],
    [
      'as WebVTT with settings',
      'WEBVTT - a title\n\nfirst\n00:01.000 --> 00:02.500 align:start\n<v Ann>Hello there</v>',
    ],
    ['as karaoke', 'WEBVTT\n\n00:01.000 --> 00:02.500\n<00:01.000>Hello <00:01.500><c.x>there</c>'],
    [
      'with notes and styles',
      'WEBVTT\n\nSTYLE\n::cue {color: red}\n\n\nNOTE no more:\n00:00.000 --> 00:00.500\nOld\n\n' +
        '00:01.000 --> 00:02.500\nHello there',
    ],
    [
      'with blocks without text',
      '1\n00:00:00,000 --> 00:00:01,000\n \n\n2\n00:00:01,000 --> 00:00:02,500\nHello there',
    ],
  ]
  for (const [title, document] of cases)
    it(`${title} is read`, () => {
      assert.deepEqual(parseSubtitles(document), [hello])
    })

  it('of another format has no blocks', () => {
    assert.deepEqual(parseSubtitles(''), [])
    assert.deepEqual(parseSubtitles('a text\n\nof two paragraphs'), [])
  })

  it('can be longer than an hour', () => {
    assert.equal(parseSubtitles('01:02:03,004 --> 01:02:04,000\nx')[0]?.startMs, 3_723_004)
  })

  for (const name of ['srt', 'vtt'] as const)
    it(`that was written as ${name} is read unchanged, including code`, () => {
      const format = createFormat(name)
      const text = 'if a < b && b > c then Vec<String> --> x &lt; y'
      const numbers = {tokens: [], temperature: 0, avgLogprob: 0, compressionRatio: 1, noSpeechProb: 0}
      const document = format.header() + format.segment({startSec: 1, endSec: 2.5, text, ...numbers})
      const expected = name === 'srt' ? text.replace('&lt;', '<') : text
      assert.deepEqual(parseSubtitles(document), [{startMs: 1000, endMs: 2500, text: expected}])
    })
})

describe('two subtitle files', () => {
  const at = (startMs: number, endMs: number) => ({startMs, endMs, text: 'x'})

  it('differ by the mean time difference of their common blocks', () => {
    assert.equal(timingOffsetMs([at(0, 1000), at(2000, 3000)], [at(100, 900), at(2000, 3200), at(9000, 9999)]), 100)
  })

  it('do not differ if one is empty', () => {
    assert.equal(timingOffsetMs([], [at(0, 1)]), 0)
    assert.equal(timingOffsetMs([at(0, 1)], []), 0)
  })

  it('are compared by their text and their times', () => {
    const [reference, hypothesis] = [
      '1\n00:00:01,000 --> 00:00:02,000\nhello world\n',
      'WEBVTT\n\n00:01.200 --> 00:02.000\nhello there\n',
    ]
    const {word_error_rate: words, timing_offset_ms: offset} = compareSubtitles(reference, hypothesis)
    assert.deepEqual([words, offset], [0.5, 100])
  })
})
