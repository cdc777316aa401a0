import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {meetsRequirements} from '../../../src/mesh/index.js'
import {requirementCases} from './requirement-cases.js'

describe('requirements of a message', () => {
  for (const [needed, able, unable] of requirementCases)
    it(`${JSON.stringify(needed)} are met only by a node that has them`, () => {
      assert.equal(meetsRequirements(able, needed), true)
      if (unable !== undefined) assert.equal(meetsRequirements(unable, needed), false)
    })
})
