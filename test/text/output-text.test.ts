import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {createTokenizer, OutputText, type Tokenizer} from '../../src/text/index.js'
import {byteTokenizer} from '../support/tiny-model.js'

const bytes = createTokenizer(byteTokenizer(), {}, 'tokenizer.json')

/** SentencePiece style: a word includes its leading space, and the first space of a text is dropped. */
const words: Tokenizer = {
  encode: () => [],
  prepare: () => undefined,
  id: () => undefined,
  tokenOf: () => undefined,
  bytes: () => Buffer.alloc(0),
  size: 0,
  specials: [],
  specialTokens: {},
  guarded: (text) => text,
  longestToken: 1,
  decode: (tokens) =>
    tokens
      .map((token) => [' Once', ' upon', ' a', ' time', ',', ' there'][token])
      .join('')
      .replace(/^ /, ''),
}

function pieces(output: OutputText, tokens: Iterable<number>): string[] {
  return [...Array.from(tokens, (token) => output.push(token)), output.end()].filter((piece) => piece !== '')
}

const utf8 = (text: string) => [...Buffer.from(text, 'utf8')]

describe('OutputText: incremental detokenization', () => {
  it('preserves spaces between words, and drops the first one only at the start of a text', () => {
    assert.deepEqual(pieces(new OutputText(words, [], []), [0, 1, 2, 3]), ['Once', ' upon', ' a', ' time'])
    assert.deepEqual(pieces(new OutputText(words, [0, 1], []), [2, 3]), [' a', ' time'])
  })

  const texts = [
    'plain',
    'naïve — “quotes”',
    '日本語のテキスト',
    '👩‍👩‍👧 family',
    'tabs\tand\nlines\r\n',
    'é',
    '\u{10ffff}',
  ]
  for (const text of texts)
    it(`never splits a character: ${JSON.stringify(text)}`, () => {
      const out = pieces(new OutputText(bytes, [], []), utf8(text))
      assert.equal(out.join(''), text)
      assert.ok(out.every((piece) => !piece.includes('\uFFFD')))
    })

  it('concatenates to the decoding of all tokens if bytes are not valid UTF-8', () => {
    const noise = Array.from({length: 600}, (_, i) => (i * 167 + 131) % 256)
    assert.equal(pieces(new OutputText(bytes, [], []), noise).join(''), bytes.decode(noise))
  })

  it('releases invalid bytes instead of holding back the rest', () => {
    const output = new OutputText(bytes, [], [])
    const out = Array.from({length: 50}, () => output.push(0xff)).join('')
    assert.ok(out.length >= 46, `${out.length} of 50 are out`)
  })

  it('returns an incomplete character at the end', () => {
    const output = new OutputText(bytes, [], [])
    assert.equal(output.push(0xe2), '')
    assert.equal(output.push(0x80), '')
    assert.equal(output.end(), bytes.decode([0xe2, 0x80]))
  })

  it('decodes only the last few tokens again, so that the cost per token is constant', () => {
    let longest = 0
    const counting: Tokenizer = {
      ...bytes,
      decode(tokens) {
        longest = Math.max(longest, tokens.length)
        return bytes.decode(tokens)
      },
    }
    pieces(new OutputText(counting, utf8('a long prompt, much longer than the window'), []), utf8('x'.repeat(2000)))
    assert.ok(longest <= 16, `${longest} tokens were decoded at once`)
  })
})

describe('OutputText: stop strings', () => {
  const run = (text: string, stop: string[]) => {
    const output = new OutputText(bytes, [], stop)
    const out: string[] = []
    for (const byte of utf8(text)) {
      out.push(output.push(byte))
      if (output.stopped) break
    }
    return {text: out.join('') + output.end(), stopped: output.stopped}
  }
  const cases: readonly [string, string[], string, boolean][] = [
    ['one two END three', ['END'], 'one two ', true],
    ['one two EN', ['END'], 'one two EN', false],
    ['EEEND', ['END'], 'EE', true],
    ['abab abc', ['abc'], 'abab ', true],
    ['END', ['END'], '', true],
    ['first or second', ['second', 'or'], 'first ', true],
    ['ends with ü', ['ü'], 'ends with ', true],
    ['nothing', [], 'nothing', false],
    ['an empty string is ignored', [''], 'an empty string is ignored', false],
  ]
  for (const [text, stop, expected, stopped] of cases)
    it(`${JSON.stringify(stop)} in ${JSON.stringify(text)}`, () =>
      assert.deepEqual(run(text, stop), {text: expected, stopped}))

  /** Texts in which `¶` stands for the special token `<s>`. */
  const special: readonly [string, string[], string, boolean][] = [
    ['one¶two', ['<s>'], 'one', true],
    ['one¶two', ['<s>t'], 'one', true],
    ['one¶two', ['e<s>tw'], 'on', true],
    ['one¶two', ['s'], 'one', true],
    ['one¶two', ['<'], 'one', true],
    ['one¶two', ['ne<'], 'o', true],
    ['one¶two', ['>tw'], 'one', true],
    ['¶', ['<s>'], '', true],
    ['one¶two', ['et', 'onetwo'], 'onetwo', false],
    ['one¶two', ['e<s>tx', '<s><s>'], 'onetwo', false],
    ['one¶¶two', ['<s><s>t'], 'one', true],
    ['one¶', ['<s>two'], 'one', false],
    ['one¶two¶', ['two<s>x'], 'onetwo', false],
  ]
  const specialTokens = (text: string) => [...text].flatMap((letter) => (letter === '¶' ? [256] : utf8(letter)))
  for (const [text, stop, expected, stopped] of special)
    it(`${JSON.stringify(stop)} in ${JSON.stringify(text)} with a special token`, () => {
      const output = new OutputText(bytes, [], stop)
      let out = ''
      for (const token of specialTokens(text)) if (!output.stopped) out += output.push(token)
      assert.deepEqual([out + output.end(), output.stopped], [expected, stopped])
    })

  it('matches the token that ends the text, too', () => {
    const output = new OutputText(bytes, [], ['ne<s>'])
    const out = utf8('one').map((token) => output.push(token))
    assert.deepEqual([out.join('') + output.end(256), output.stopped], ['o', true])
  })

  it('ends the text at the first of several stop strings in one token', () => {
    const output = new OutputText(words, [0], ['here', 'th'])
    assert.deepEqual([output.push(5), output.stopped], [' ', true])
  })

  it('finds a stop string that spans tokens, and holds back its start', () => {
    const output = new OutputText(words, [], ['a time'])
    assert.deepEqual(
      [0, 1, 2, 3].map((token) => output.push(token)),
      ['Once', ' upon', ' ', ''],
    )
    assert.equal(output.stopped, true)
    assert.equal(output.end(), '')
  })
})
