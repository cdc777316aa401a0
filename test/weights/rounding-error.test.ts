import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {modelWeightTypes} from '../../src/llm/index.js'
import {writeGguf} from '../support/gguf-model.js'
import {temporaryFolder} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

describe('the types of weights of a model', () => {
  it('have the error of rounding to each precision; blocks have none with w4', async (test) => {
    const folder = await temporaryFolder(test)
    await writeTinyModel(folder, {layout: 'single', hiddenSize: 64, intermediateSize: 64})
    const file = join(folder, 'a.gguf')
    await writeGguf(file, folder, {type: 'Q8_0'})
    const errors = async (model: string, type: string) => {
      const found = await Promise.all((['f32', 'w8', 'w4'] as const).map((each) => modelWeightTypes(model, {}, each)))
      return found.map((types) => types.find((each) => each.type === type)?.roundingError)
    }
    const [f32, w8, w4] = await errors(folder, 'F32')
    assert.equal(f32, 0)
    assert.ok(w8 !== undefined && w8 > 0.001 && w8 < 0.02, `${w8}`)
    // A step of 4 bits is 16 times one of 8 bits; a block of 32 has a smaller largest value than a row.
    assert.ok(w4 !== undefined && w4 > 0.05 && w4 < 0.15, `${w4}`)
    const [, blocksW8, blocksW4] = await errors(file, 'Q8_0')
    assert.ok(blocksW8 !== undefined && blocksW8 > 0.001)
    assert.equal(blocksW4, 0)
    // Only norms.
    assert.deepEqual(await errors(file, 'F32'), [undefined, undefined, undefined])
  })
})
