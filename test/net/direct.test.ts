import assert from 'node:assert/strict'
import {parse} from 'node:querystring'
import {it} from 'node:test'
import {parseQuery} from '../../src/net/direct.js'

it('parses every query string as Node.js does', () => {
  const parts = ['a', 'b.c', '__proto__', '=', '&', '%41', '%zz', '+', '1', '"', 'é', '']
  const texts = parts.flatMap((a) => parts.flatMap((b) => parts.flatMap((c) => parts.map((d) => a + b + c + d))))
  for (const text of texts) {
    const expected = parse(text, '&', '=', {maxKeys: 0})
    for (const known of [[], ['a', '__proto__']]) assert.deepEqual(parseQuery(text, known), expected, text)
  }
})
