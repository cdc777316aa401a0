import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {type BlockDtype, blockDtypes, blockTypeOf, widenBlocks} from '../../src/weights/block-types.js'
import {projectFile} from '../support/project.js'

/** Written by `test/fixtures/gguf/write-blocks.py` with the package gguf of Python. */
const samples: Readonly<Record<string, {blocks: string; values: string}>> = JSON.parse(
  readFileSync(projectFile('test/fixtures/gguf/blocks.json'), 'utf8'),
)

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64'))

describe('the blocks of GGUF files', () => {
  it('are compared for every type', () => assert.deepEqual(Object.keys(samples).sort(), [...blockDtypes].sort()))

  for (const [dtype, {blocks, values}] of Object.entries(samples))
    it(`of the type ${dtype} have the weights of the reference`, () => {
      const expected = new Float32Array(bytesOf(values).buffer)
      const {bytes, weights} = blockTypeOf(dtype as BlockDtype)
      assert.equal(bytesOf(blocks).length / bytes, expected.length / weights)
      const found = new Float32Array(expected.length)
      widenBlocks(bytesOf(blocks), dtype as BlockDtype, found)
      // The reference rounds the product before it adds the offset.
      const largest = expected.reduce((max, value) => Math.max(max, Math.abs(value)), 0)
      for (const [i, value] of expected.entries())
        assert.ok(Math.abs(found[i]! - value) <= 1e-6 * largest, `${dtype} ${i}`)
    })
})
