import assert from 'node:assert/strict'
import {Readable} from 'node:stream'
import {describe, it} from 'node:test'
import {ByteReader} from '../../src/audio/byte-reader.js'

describe('a loop over the bytes of a recording', () => {
  const reader = () => new ByteReader(Readable.from([Buffer.from('one'), Buffer.from('two')]))
  const loops: Readonly<Record<string, (reader: ByteReader) => Promise<unknown>>> = {
    'looks at the same bytes': (bytes) => bytes.peek(2),
    'reads at the end': (bytes) => bytes.read(6),
    'skips nothing': async (bytes) => {
      await bytes.skip(0)
      await bytes.peek(1)
    },
  }
  for (const [what, step] of Object.entries(loops))
    it(`fails instead of never ending if it ${what}`, async () => {
      const bytes = reader()
      await assert.rejects(
        async () => {
          for (;;) await step(bytes)
        },
        {message: /^The decoder made no progress at byte \d\.$/},
      )
    })

  it('may be long if it advances', async () => {
    const bytes = new ByteReader(Readable.from(Array.from({length: 30_000}, () => Buffer.from('x'))))
    let count = 0
    while ((await bytes.peek(1)).length > 0) count += (await bytes.read(1)).length
    assert.equal(count, 30_000)
  })
})
