import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type Line, LineReader} from '../../src/daemon/framing.js'
import {collectGarbage} from '../support/garbage.js'

const limit = 64

/** Reads all lines of some bytes, in pieces of one size. */
function read(bytes: Buffer, size = bytes.length, maxBytes = limit): Line[] {
  const reader = new LineReader(maxBytes)
  const lines: Line[] = []
  for (let at = 0; at < bytes.length; at += size) lines.push(...reader.push(bytes.subarray(at, at + size)))
  return [...lines, ...reader.end()]
}

const tooLong = (head: string): Line => ({problem: 'too_long', head})
const notUtf8 = (head: string): Line => ({problem: 'not_utf8', head})

const cases: readonly [what: string, bytes: string | Buffer, lines: Line[]][] = [
  ['lines', 'a\nbc\n', ['a', 'bc']],
  ['a last line without line end', 'a\nbc', ['a', 'bc']],
  ['CR before LF', 'a\r\nb\r\r\n', ['a', 'b\r']],
  ['CR inside of a line', 'a\rb\n', ['a\rb']],
  ['blank lines', '\n\r\n \t \na\n\n', ['a']],
  ['nothing', '', []],
  ['characters of several bytes', 'é\n😀ß\n', ['é', '😀ß']],
  ['a NUL byte', 'a\0b\n', ['a\0b']],
  ['a byte order mark', '\uFEFF{}\n', ['\uFEFF{}']],
  ['a line of the maximum length', `${'x'.repeat(limit)}\ny\n`, ['x'.repeat(limit), 'y']],
  ['a too long line', `a\n${'x'.repeat(limit + 1)}\ny\n`, ['a', tooLong('x'.repeat(limit + 1)), 'y']],
  [
    'several too long lines',
    `${'x'.repeat(70)}\n${'y'.repeat(70)}\nz\n`,
    [tooLong('x'.repeat(70)), tooLong('y'.repeat(70)), 'z'],
  ],
  ['a too long line without line end', `a\n${'x'.repeat(65)}`, ['a', tooLong('x'.repeat(65))]],
  ['bytes that are not UTF-8', Buffer.from('a\n\xff\xfe{\nb\n', 'latin1'), ['a', notUtf8('\xff\xfe{'), 'b']],
  ['half a character', Buffer.from('\xc3\nb\n', 'latin1'), [notUtf8('\xc3'), 'b']],
]

describe('LineReader', () => {
  for (const [what, bytes, lines] of cases) {
    it(`${what}, in one piece`, () => {
      assert.deepEqual(read(Buffer.from(bytes as string)), lines)
    })

    it(`${what}, in pieces of every size`, () => {
      const all = Buffer.from(bytes as string)
      // The reported start of a too long line depends on the pieces.
      const plain = (found: Line[]) =>
        found.map((line) => (typeof line === 'string' ? line : [line.problem, line.head.slice(0, 1)]))
      for (let size = 1; size <= all.length; size++) assert.deepEqual(plain(read(all, size)), plain(lines), `${size}`)
    })
  }

  it('reports a too long line before its end', () => {
    const reader = new LineReader(limit)
    assert.deepEqual(reader.push(Buffer.from('x'.repeat(limit))), [])
    assert.equal(reader.push(Buffer.from('x')).length, 1)
    for (let i = 0; i < 1000; i++) assert.deepEqual(reader.push(Buffer.from('x'.repeat(limit))), [])
    assert.deepEqual(reader.push(Buffer.from('x\ny\n')), ['y'])
  })

  it('needs no more memory for many small pieces', () => {
    const reader = new LineReader(8 << 20)
    collectGarbage()
    const before = process.memoryUsage()
    for (let i = 0; i < 2_000_000; i++) reader.push(Buffer.from('x'))
    // The young generation of the test processes is larger than the bound.
    collectGarbage()
    const {heapUsed, external} = process.memoryUsage()
    assert.ok(heapUsed + external - before.heapUsed - before.external < 64 << 20)
    assert.deepEqual(
      reader.push(Buffer.from('\n')).map((line) => (line as string).length),
      [2_000_000],
    )
  })
})
