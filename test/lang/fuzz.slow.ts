import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {campaignSeed} from '../support/campaign-seed.js'
import {fuzz} from './fuzz.js'
import {testLong, testNested, testVeryLong} from './large-programs.js'

const programs = 10_000
const seed = campaignSeed(import.meta.url)

describe(`${programs} mutated programs`, () => {
  it('are checked, formatted and generated without an internal error', async () => {
    const report = await fuzz({seed, programs, seconds: 3600})
    assert.deepEqual(report.failures, [])
    assert.equal(report.programs, programs)
    assert.ok(report.clean > 0 && report.formatted > report.clean, JSON.stringify(report))
  })
})

testNested(10_000)
testLong(10_000)
testVeryLong(200_000)
