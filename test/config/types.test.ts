import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {inspect} from 'node:util'
import {
  aliasedChoice,
  baseUrl,
  boolean,
  choice,
  choices,
  integer,
  list,
  milliseconds,
  number,
  originPatterns,
  path,
  phrases,
  type SettingType,
  seconds,
  text,
  tokenIds,
  zeroOr,
} from '../../src/config/types.js'

type Case = [input: unknown, value: unknown]

/** Checks inputs from a variable or flag (`words`) and from the file (`toml`); undefined means rejected. */
function reads(type: SettingType<unknown>, {words, toml}: {words: Case[]; toml: Case[]}): void {
  for (const [input, value] of words)
    it(`${value === undefined ? 'rejects' : 'accepts'} the text ${inspect(input)}`, () => {
      assert.deepEqual(type.parse(input as string), value)
    })
  for (const [input, value] of toml)
    it(`${value === undefined ? 'rejects' : 'accepts'} ${inspect(input)} from the file`, () => {
      assert.deepEqual(type.accept(input), value)
    })
}

const refused = (...inputs: unknown[]): Case[] => inputs.map((input) => [input, undefined])

describe('a whole number from 1 to 10', () => {
  const type = integer({min: 1, max: 10})
  reads(type, {
    words: [
      ['7', 7],
      ['+7', 7],
      ['1', 1],
      ['10', 10],
      ...refused('0', '11', '-7', '7.0', '7e0', '0x7', 'seven', '7 8'),
    ],
    toml: [[7, 7], ...refused(0, 11, 7.5, '7', true, [7], Number.NaN, 2 ** 60)],
  })

  it('describes its range', () => {
    assert.equal(type.expected, 'a whole number from 1 to 10')
  })
})

describe('a whole number without bounds', () => {
  reads(integer(), {words: [['-7', -7], ...refused('9007199254740993', '')], toml: [[-7, -7]]})
})

describe('the description of a number', () => {
  for (const [type, expected] of [
    [integer(), 'a whole number'],
    [integer({min: 1}), 'a whole number of at least 1'],
    [number({max: 2}), 'a number of at most 2'],
    [number({min: 0, max: 2}), 'a number from 0 to 2'],
    [integer({min: 64, clamp: true}), 'a whole number (minimum 64; smaller values are raised)'],
    [number({above: 0}), 'a number above 0'],
    [milliseconds(), 'a whole number from 0 to 2147483647'],
    [seconds(1), 'a whole number from 1 to 2147483'],
    [number({max: 2, clamp: true}), 'a number (maximum 2; larger values are lowered)'],
    [zeroOr(number({min: 5, max: 28, clamp: true})), '0, or a number (clamped to 5-28)'],
  ] as const)
    it(expected, () => {
      assert.equal(type.expected, expected)
    })
})

describe('a number above 0', () => {
  reads(number({above: 0}), {
    words: [['0.001', 0.001], ...refused('0', '-0', '-1', 'NaN', 'Infinity')],
    toml: [[5, 5], ...refused(0, -1)],
  })
})

describe('a number from 0 to 2', () => {
  reads(number({min: 0, max: 2}), {
    words: [
      ['0.7', 0.7],
      ['0', 0],
      ['2', 2],
      ['1e-1', 0.1],
      ...refused('', ' ', '-0.1', '2.01', 'Infinity', 'NaN', 'x'),
    ],
    toml: [[0.7, 0.7], [2, 2], ...refused('0.7', 3, Number.NaN, Number.POSITIVE_INFINITY, false)],
  })
})

describe('a whole number raised to at least 64', () => {
  reads(integer({min: 64, clamp: true}), {
    words: [['64', 64], ['3', 64], ['0', 64], ['+100', 100], ...refused('-1', '65.5', 'many', '')],
    toml: [[3, 64], [100, 100], ...refused(-1, 65.5, '64', true, Number.NaN)],
  })
})

describe('a number clamped to 0-1', () => {
  reads(number({min: 0, max: 1, clamp: true}), {
    words: [['0.5', 0.5], ['7', 1], ['-7', 0], ...refused('high', 'NaN', 'Infinity')],
    toml: [[0.5, 0.5], [7, 1], [-7, 0], ...refused('0.5', Number.NaN, Number.POSITIVE_INFINITY)],
  })
})

describe('0, or a number clamped to 5-28', () => {
  reads(zeroOr(number({min: 5, max: 28, clamp: true})), {
    words: [
      ['0', 0],
      ['0.0', 0],
      ['00', 0],
      ['2', 5],
      ['0.1', 5],
      ['28.5', 28],
      ['12.5', 12.5],
      ...refused('off', '', '-1'),
    ],
    toml: [[0, 0], [2, 5], [12.5, 12.5], [30, 28], ...refused('0', false, -1)],
  })
})

describe('a strict boolean', () => {
  reads(boolean('strict'), {
    words: [['true', true], ['false', false], ...refused('True', 'FALSE', '1', '0', 'yes', 'on', '')],
    toml: [[true, true], [false, false], ...refused('true', 1)],
  })
})

describe('a lenient boolean', () => {
  reads(boolean('lenient'), {
    words: [
      ...['1', 'true', 'yes', 'on', 'TRUE', 'Yes', 'ON'].map((word): Case => [word, true]),
      ...['0', 'false', 'no', 'off', 'FALSE', 'No', 'Off'].map((word): Case => [word, false]),
      ...refused('2', 'y', 'enabled', ''),
    ],
    toml: [[true, true], ...refused('yes', 1)],
  })
})

describe('a flag boolean', () => {
  reads(boolean('flag'), {
    words: [
      ['1', true],
      ['true', true],
      ['TRUE', true],
      ['0', false],
      ['No', false],
      ['off', false],
      ...refused('yes', 'on', 'banana'),
    ],
    toml: [[true, true], [false, false], ...refused('1', 1)],
  })
})

describe('an opt-in boolean', () => {
  reads(boolean('opt-in'), {
    words: [
      ['1', true],
      ['true', true],
      ['TRUE', true],
      ...['0', 'false', 'yes', 'on', 'banana'].map((word): Case => [word, false]),
    ],
    toml: [[true, true], [false, false], ...refused('1', 1)],
  })
})

describe('one of a few words', () => {
  const type = choice('auto', 'text', 'json')
  reads(type, {
    words: [['json', 'json'], ['JSON', 'json'], ...refused('yaml', '')],
    toml: [['text', 'text'], ['Auto', 'auto'], ...refused(1, ['text'])],
  })

  it('lists the words in its description and its options', () => {
    assert.equal(type.expected, 'one of auto, text, json')
    assert.deepEqual(type.options, ['auto', 'text', 'json'])
  })
})

describe('one of a few words with aliases', () => {
  const type = aliasedChoice({cpu: ['0', 'false'], cuda: ['1', 'true'], none: []})
  reads(type, {
    words: [
      ['cpu', 'cpu'],
      ['CUDA', 'cuda'],
      ['1', 'cuda'],
      ['True', 'cuda'],
      ['0', 'cpu'],
      ['none', 'none'],
      ...refused('2', 'gpu', ''),
    ],
    toml: [['cuda', 'cuda'], [true, 'cuda'], [1, 'cuda'], [false, 'cpu'], ...refused(2, ['cuda'], {}, 'gpu')],
  })

  it('lists the aliases in its description only', () => {
    assert.equal(type.expected, 'one of cpu (also 0, false), cuda (also 1, true), none')
    assert.deepEqual(type.options, ['cpu', 'cuda', 'none'])
  })
})

describe('text', () => {
  reads(text(), {words: [['as it is', 'as it is']], toml: [['as it is', 'as it is'], ...refused(1, true, ['a'])]})
})

describe('a path', () => {
  reads(path(), {words: [['/a/b c', '/a/b c']], toml: [['../x', '../x'], ...refused(1)]})

  it('describes itself', () => {
    assert.equal(path().expected, 'a path')
  })
})

describe('a list of words', () => {
  const type = list()
  reads(type, {
    words: [
      ['a,b', ['a', 'b']],
      [' a , ,b,a ', ['a', 'b']],
      [',', []],
    ],
    toml: [
      [
        ['a ', 'b', '', 'a'],
        ['a', 'b'],
      ],
      [[], []],
      ...refused('a,b', [1], ['a', 1], {}),
    ],
  })

  it('formats a value so that it can be parsed again', () => {
    assert.equal(type.format?.(['a', 'b']), 'a,b')
    assert.deepEqual(type.parse(type.format?.(['a', 'b']) ?? ''), ['a', 'b'])
  })
})

describe('a subset of a few words', () => {
  const type = choices('red', 'green', 'blue')
  reads(type, {
    words: [
      ['red,blue', ['red', 'blue']],
      [' Blue , ,RED, pink, blue ', ['blue', 'red']],
      ['pink', []],
      [',', []],
    ],
    toml: [
      [
        ['Red ', '', 'blue', 'RED'],
        ['red', 'blue'],
      ],
      [[], []],
      ...refused('red', ['pink'], ['red', 'pink'], [1], {}),
    ],
  })

  it('returns the unknown words of a text', () => {
    assert.deepEqual(type.skips?.('red,pink, Teal,BLUE,pink'), ['pink', 'Teal'])
    assert.deepEqual(type.skips?.(' red , blue,'), [])
  })

  it('formats a value so that it can be parsed again', () => {
    assert.deepEqual(type.parse(type.format?.(['green', 'red']) ?? ''), ['green', 'red'])
  })
})

describe('a list of phrases', () => {
  const type = phrases()
  reads(type, {
    words: [
      ['get user, MESH', ['get user', 'MESH']],
      ['a;b,\nc\r\nd', ['a', 'b', 'c', 'd']],
      [' a ; ;a', ['a']],
      [';', []],
    ],
    toml: [[[' get user ', ''], ['get user']], ...refused('a,b', [1])],
  })

  it('formats a value so that it can be parsed again', () => {
    assert.deepEqual(type.parse(type.format?.(['get user', 'b']) ?? ''), ['get user', 'b'])
  })
})

describe('a list of token ids', () => {
  reads(tokenIds(), {
    words: [
      ['50256,1;2 3\n4', [50_256, 1, 2, 3, 4]],
      ['7, x, -1, 2.5, 7', [7]],
      ['x', []],
    ],
    toml: [
      [
        [7, 1, 7],
        [7, 1],
      ],
      [[], []],
      ...refused([-1], [1.5], ['1'], 7),
    ],
  })
})

describe('the base URL of a server', () => {
  reads(baseUrl(), {
    words: [
      ['http://127.0.0.1:11435', 'http://127.0.0.1:11435'],
      ['http://127.0.0.1:11435/', 'http://127.0.0.1:11435'],
      ['http://127.0.0.1:11435///', 'http://127.0.0.1:11435'],
      ['127.0.0.1:11435', 'http://127.0.0.1:11435'],
      ['localhost:11435', 'http://localhost:11435'],
      ['gpu-box', 'http://gpu-box'],
      ['https://example.org', 'https://example.org'],
      ['HTTPS://Example.org', 'https://example.org'],
      ['http://0.0.0.0:8080', 'http://127.0.0.1:8080'],
      ['0.0.0.0', 'http://127.0.0.1'],
      ['http://[::]:8080', 'http://[::1]:8080'],
      ['http://host:1/v1', 'http://host:1'],
      ['http://host:1/v1/', 'http://host:1'],
      ['http://host:1/api', 'http://host:1'],
      ['http://host:1/proxy/v1', 'http://host:1/proxy'],
      ['http://host:1/proxy', 'http://host:1/proxy'],
      ['http://host:1/v1?key=1#top', 'http://host:1'],
      ...refused('', 'ftp://host', 'file:///etc', 'http://', 'not a url', 'http://host:99999'),
    ],
    toml: [['http://host:1/v1', 'http://host:1'], ...refused(8080, true)],
  })
})

describe('originPatterns', () => {
  const type = originPatterns()
  it('accepts origins without a path, in lower case', () => {
    const patterns = ['*', 'null', 'https://*.example.org', 'chrome-extension://*', 'http://localhost:*']
    assert.deepEqual(type.parse(patterns.join(', ').replace('example', 'Example')), patterns)
    assert.deepEqual(type.accept(patterns), patterns)
    assert.deepEqual(type.parse(''), [])
  })
  for (const text of ['example.org', 'https://example.org/', 'https://', 'https://a.test,b.test', '*://a b'])
    it(`rejects ${text}`, () =>
      assert.deepEqual([type.parse(text), type.accept(text.split(','))], [undefined, undefined]))
})
