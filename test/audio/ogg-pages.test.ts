import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {ByteReader} from '../../src/audio/byte-reader.js'
import {oggPages} from '../../src/audio/ogg-pages.js'

/** A page whose body has one segment; `first` marks the beginning of a stream. */
function page(first: boolean, body: string): Buffer {
  const head = Buffer.alloc(28)
  head.write('OggS', 'latin1')
  head[5] = first ? 2 : 0
  head[26] = 1
  head[27] = body.length
  return Buffer.concat([head, Buffer.from(body)])
}

async function read(...parts: readonly Buffer[]) {
  async function* source() {
    yield Buffer.concat(parts)
  }
  const found: {length: number; begins: boolean}[] = []
  for await (const {bytes, begins} of oggPages(new ByteReader(source()))) found.push({length: bytes.length, begins})
  return found
}

describe('the pages of an Ogg file', () => {
  it('begin another file only after a page that continues a stream', async () => {
    const parts = [
      page(true, 'audio'),
      page(true, 'video'),
      page(false, 'more'),
      page(true, 'next'),
      page(false, 'end'),
    ]
    const found = await read(...parts)
    assert.deepEqual(
      found.map(({length}) => length),
      parts.map(({length}) => length),
    )
    assert.deepEqual(
      found.map(({begins}) => begins),
      [false, false, false, true, false],
    )
  })

  it('are found again behind bytes that are no page', async () => {
    const found = await read(page(true, 'audio'), Buffer.from('x'.repeat(50)), page(false, 'more'))
    assert.deepEqual(
      found.map(({length}) => length),
      [33, 50, 32],
    )
  })
})
