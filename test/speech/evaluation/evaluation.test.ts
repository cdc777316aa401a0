import assert from 'node:assert/strict'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {compareSubtitles} from '../../../src/speech/evaluation/compare-subtitles.js'
import {readDataset} from '../../../src/speech/evaluation/dataset.js'
import {editDistance, totalEdits} from '../../../src/speech/evaluation/edit-distance.js'
import {characterErrorRate, symbolErrorRate, wordErrorRate} from '../../../src/speech/evaluation/error-rate.js'
import {evaluate} from '../../../src/speech/evaluation/evaluate.js'
import {normalizers} from '../../../src/speech/evaluation/normalize.js'
import {americanSpelling} from '../../../src/speech/evaluation/spelling.js'
import {parseSubtitles} from '../../../src/speech/evaluation/subtitle-parser.js'
import {sharedData, skipWithout} from '../../support/project.js'
import {uniformFloats} from '../../support/random-floats.js'
import {temporaryFolder} from '../../support/temporary.js'

describe('the distance of two sequences', () => {
  /** By trying everything. */
  const distance = (a: string, b: string): number => {
    if (a === '' || b === '') return a.length + b.length
    if (a[0] === b[0]) return distance(a.slice(1), b.slice(1))
    return 1 + Math.min(distance(a.slice(1), b), distance(a, b.slice(1)), distance(a.slice(1), b.slice(1)))
  }

  it('is the fewest edits there are', () => {
    const uniform = uniformFloats(3)
    const word = () => Array.from({length: Math.floor(6 * uniform())}, () => 'ab'[Math.floor(2 * uniform())]).join('')
    for (let i = 0; i < 100; i++) {
      const [a, b] = [word(), word()]
      assert.equal(totalEdits(editDistance([...a], [...b])), distance(a, b), `${a} ${b}`)
    }
  })

  it('says which edits', () => {
    assert.deepEqual(editDistance([...'abcd'], [...'axc']), {substitutions: 1, insertions: 0, deletions: 1})
    assert.deepEqual(editDistance([], [...'ab']), {substitutions: 0, insertions: 2, deletions: 0})
  })
})

describe('an error rate', () => {
  const rates: readonly (readonly [name: string, actual: number, expected: number])[] = [
    ['of words', wordErrorRate('hello world', 'hello there').rate, 0.5],
    ['of words in other capitals', wordErrorRate('Hello World', 'hello world').rate, 0],
    ['of nothing and nothing', characterErrorRate('   ', '').rate, 0],
    ['of nothing and something', wordErrorRate('', 'a b').rate, 1],
    ['of something and nothing', wordErrorRate('a b', '').rate, 1],
    ['above one', wordErrorRate('a', 'b c d').rate, 3],
    ['of characters without blanks', characterErrorRate('a b', 'ab').rate, 0],
    ['of characters', characterErrorRate('ab', 'ac').rate, 0.5],
    ['of characters beyond the first plane', characterErrorRate('😀a', '😀b').rate, 0.5],
    ['of symbols alone', symbolErrorRate('call get_user now!', 'call get_usr later!').rate, 0.5],
  ]
  for (const [name, actual, expected] of rates) it(`${name} is ${expected}`, () => assert.equal(actual, expected))
})

describe('a normaliser', () => {
  it('leaves out what is no error of hearing', () => {
    assert.equal(normalizers.basic(' Hello, WORLD! [music] (laughs) ﬁne'), 'hello world fine')
    assert.equal(normalizers.none(' Hello '), ' Hello ')
  })

  const english: readonly (readonly [text: string, result: string])[] = [
    ["I can't believe it's twenty-one colours, Mr. Smith!", 'i can not believe it is 21 colors mister smith'],
    ['$5.50 and 1,000 metres, 50%', '5.50 dollars and 1000 meters 50 percent'],
    ["They're gonna organise it", 'they are going to organize it'],
    ["John's hat, um, won't fit.", 'john s hat will not fit'],
  ]
  for (const [text, result] of english)
    it(`writes "${text}" as it sounds`, () => assert.equal(normalizers.english(text), result))

  it('knows British spellings', {skip: skipWithout('whisper-assets/english-normalizer.json')}, async () => {
    const table = JSON.parse(
      await readFile(sharedData('whisper-assets/english-normalizer.json') ?? '', 'utf8'),
    ) as Record<string, string>
    const rows = Object.entries(table)
    const right = rows.filter(([british, american]) => americanSpelling(british) === american)
    assert.ok(right.length > 0.85 * rows.length, `${right.length} of ${rows.length}`)
  })

  it('leaves ordinary words alone', () => {
    const words =
      'four hour our wise exercise advertise surprise promise raise noise advise precise paradise rise arise otherwise ' +
      'tower pillar caller taller smaller seller killed called calling fully hello revised television palled jelled stalled ' +
      'poll rolled center color traveler analysis basis this is his crisis'
    for (const word of words.split(' ')) assert.equal(americanSpelling(word), word)
  })
})

describe('subtitles', () => {
  it('are read from SRT and WebVTT, however they are written', () => {
    const srt =
      '\uFEFF1\r\n00:00:01,500 --> 00:00:02,000\r\nHello\r\n<i>there</i>\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\nyou\r\n'
    const vtt =
      'WEBVTT - title\n\nNOTE a note\n\nSTYLE\n::cue {}\n\nintro\n00:01.500 --> 00:02.000 line:0\nHello\nthere\n\n00:03.000 --> 00:04.000\nyou'
    const bare =
      '00:00:01.5 --> 00:00:02.0\nHello there\n\n\n00:00:03,000 --> 00:00:04,000\nyou\n\n3\n00:00:05,000 --> 00:00:06,000\n\n'
    const expected = [
      {startMs: 1500, endMs: 2000, text: 'Hello there'},
      {startMs: 3000, endMs: 4000, text: 'you'},
    ]
    for (const document of [srt, vtt, bare]) assert.deepEqual(parseSubtitles(document), expected)
    assert.deepEqual(parseSubtitles('no subtitles'), [])
  })

  it('are compared by text and time', () => {
    const at = (from: string, to: string, text: string) => `1\n00:00:0${from},000 --> 00:00:0${to},000\n${text}\n\n`
    const result = compareSubtitles(
      at('1', '2', 'a b') + at('3', '4', 'c d'),
      at('1', '3', 'a b') + at('4', '4', 'c x'),
    )
    assert.deepEqual(result, {word_error_rate: 0.25, character_error_rate: 0.25, timing_offset_ms: 500})
    assert.equal(compareSubtitles('', at('1', '2', 'a')).timing_offset_ms, 0)
  })
})

describe('a dataset', () => {
  it('lists recordings beside it', async (test) => {
    const folder = await temporaryFolder(test)
    const file = join(folder, 'set.jsonl')
    await writeFile(
      file,
      '{"path": "a.wav", "expected": "one", "language": "en"}\n\n{"path": "/b.wav", "expected": ""}\n',
    )
    assert.deepEqual(await readDataset(file), [
      {path: join(folder, 'a.wav'), expected: 'one', language: 'en'},
      {path: '/b.wav', expected: '', language: undefined},
    ])
  })

  for (const [what, line, reason] of [
    ['no JSON', '{', /line 2: it is not JSON/],
    ['no path', '{"expected": "a"}', /line 2: path must be a text/],
    ['no text', '{"path": "a", "expected": 1}', /line 2: expected must be a text/],
    ['null', 'null', /line 2: path/],
  ] as const)
    it(`with a line of ${what} says which`, async (test) => {
      const file = join(await temporaryFolder(test), 'set.jsonl')
      await writeFile(file, `{"path": "a", "expected": "b"}\n${line}\n`)
      await assert.rejects(readDataset(file), reason)
    })

  it('of nothing is refused', async (test) => {
    const file = join(await temporaryFolder(test), 'set.jsonl')
    await writeFile(file, '\n')
    await assert.rejects(readDataset(file), {code: 'dataset_invalid'})
    await assert.rejects(readDataset(`${file}.gone`), {code: 'file_not_found'})
  })

  it('counts the errors of all per word of all, raw and normalised', () => {
    const heard = (expected: string, actual: string, latencyMs: number) => ({
      path: 'a',
      expected,
      actual,
      confidence: 1,
      latencyMs,
    })
    const result = evaluate([heard('One two three', 'one, two three', 10), heard('four', 'for', 30)], 'basic')
    assert.deepEqual([result.raw.errors, result.raw.words, result.raw.wer], [2, 4, 0.5])
    assert.deepEqual([result.normalized.errors, result.normalized.wer], [1, 0.25])
    assert.deepEqual([result.mean_latency_ms, result.samples[0]?.word_errors], [20, 0])
  })
})
