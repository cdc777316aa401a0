import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {linesOf} from '../../src/files/index.js'

/** Splits a text that arrives in chunks of `size` bytes. */
async function split(text: string, size: number, maxBytes: number): Promise<string[]> {
  async function* chunks() {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const lines: string[] = []
  for await (const line of linesOf(chunks(), maxBytes)) lines.push(line.toString())
  return lines
}

describe('linesOf', () => {
  for (const size of [1, 2, 3, 100])
    it(`splits chunks of ${size} bytes`, async () => {
      assert.deepEqual(await split('one\n\nzwölf\r\nend', size, 50), ['one', '', 'zwölf\r', 'end'])
      assert.deepEqual(await split('one\n', size, 50), ['one'])
      assert.deepEqual(await split('', size, 50), [])
    })

  for (const size of [1, 3, 5])
    it(`yields a long line once, cut, with chunks of ${size} bytes`, async () => {
      const lines = await split(`a\n${'x'.repeat(40)}\nb\n${'y'.repeat(40)}`, size, 8)
      assert.deepEqual([lines.length, lines[0], lines[2]], [4, 'a', 'b'])
      for (const [line = '', letter] of [
        [lines[1], 'x'],
        [lines[3], 'y'],
      ] as const)
        assert.ok(line.length > 8 && line.length < 40 && line === String(letter).repeat(line.length))
    })
})
