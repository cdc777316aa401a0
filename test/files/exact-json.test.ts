import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {readDocument} from '../../src/contracts/index.js'
import {isErrorOf} from '../../src/errors/index.js'
import {parseExactJson, parseForeignJson} from '../../src/files/index.js'

describe('numbers in JSON and YAML', () => {
  it('are read exactly', () => {
    const text =
      '{"a": 9007199254740991, "b": -9007199254740991, "c": 1e300, "d": 0.12345678901234567, "e": "9007199254740993 \\" 9007199254740993"}'
    assert.deepEqual(parseExactJson(text), JSON.parse(text))
  })

  for (const text of ['{"id": 9007199254740993}', '[1,\n  9007199254740992]', '-12345678901234567890'])
    it(`are refused if they would be rounded: ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseExactJson(text), /is not exact, since it is beyond 2\^53; .* \(line \d, column \d+\)/)
    })

  it('are strings in answers of other programs if they would be rounded', () => {
    const text = '{"id": 9007199254740993, "ids": [1, -9007199254740993], "text": "9007199254740993", "x": 1.5}'
    assert.deepEqual(parseForeignJson(text), {
      id: '9007199254740993',
      ids: [1, '-9007199254740993'],
      text: '9007199254740993',
      x: 1.5,
    })
  })

  for (const [what, part] of [
    ['characters', 'a'],
    ['escapes', '\\n'],
  ] as const)
    it(`are found after a string of 12 MB of ${what}`, () => {
      const text = `["${part.repeat(12e6 / part.length)}", 1.2345678901234567`
      assert.equal((parseExactJson(`${text}]`) as unknown[]).length, 2)
      assert.throws(() => parseExactJson(`${text}, 9007199254740993]`), /9007199254740993 is not exact/)
    })

  it('are refused in files, too', async () => {
    assert.deepEqual(await readDocument('a: [1, 0x10, 1.5, -7]', 'f.yaml'), {a: [1, 16, 1.5, -7]})
    for (const [source, name] of [
      ['a: {id: 9007199254740993}', 'f.yaml'],
      ['{"id": 9007199254740993}', 'f.json'],
    ] as const)
      await assert.rejects(
        readDocument(source, name),
        (error) => isErrorOf(error, 'document_unparsable') && /9007199254740993 is not exact/.test(error.message),
      )
  })
})
