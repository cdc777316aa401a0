import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {contractSchema, contractViolations, plainViolations} from '../../src/contracts/index.js'
import {envelope} from '../tasks/support/envelope.js'

const envelopes = 'orchestration/context-envelope.v1'
const harnesses = 'orchestration/harness-spec.v1'

/** Both checks of a value, which must agree. */
async function violationsOf(contract: string, value: unknown): Promise<string[]> {
  const found = plainViolations(contractSchema(contract), value)
  assert.deepEqual([...found].sort(), (await contractViolations(contract, value)).sort())
  return found
}

describe('the synchronous check of a contract', () => {
  for (const [what, contract, value] of [
    ['an envelope with the required members', envelopes, envelope()],
    ['a harness without members', harnesses, {}],
    ['both forms of a check', harnesses, {required_checks: ['test', {check: 'lint', covers: ['src/**']}]}],
    ['an acceptance line of 2000 code points', harnesses, {accept: ['\u{1F600}'.repeat(2000)]}],
  ] as const)
    it(`accepts ${what}`, async () => {
      assert.deepEqual(await violationsOf(contract, value), [])
    })

  for (const [what, contract, value] of [
    ['null', envelopes, null],
    ['a list', envelopes, []],
    [
      'an envelope without some members',
      envelopes,
      envelope({envelope_id: undefined, trust: undefined, budget: undefined}),
    ],
    ['an unknown member', envelopes, envelope({sender: 'x'})],
    ['an unknown nested member', envelopes, envelope({trust: {...envelope().trust, 'a/b~c': 1}})],
    ['a string instead of a number', envelopes, envelope({created_at_unix_ms: '1'})],
    ['a fraction instead of a whole number', envelopes, envelope({schema_version: 1.5})],
    ['an infinite number', envelopes, envelope({trust: {...envelope().trust, confidence: Number.POSITIVE_INFINITY}})],
    ['a number above the maximum', envelopes, envelope({trust: {...envelope().trust, confidence: 1.1}})],
    ['a number below the minimum', envelopes, envelope({schema_version: 0})],
    ['a value outside the enumeration', envelopes, envelope({envelope_type: 'letter'})],
    ['a blank id', envelopes, envelope({envelope_id: ''})],
    ['an item of the wrong type', envelopes, envelope({content: {summary_text: '', citations: [1]}})],
    ['an incomplete fact', envelopes, envelope({content: {summary_text: '', facts: [{text: 'x'}]}})],
    [
      'an id that is neither a number nor a string',
      envelopes,
      envelope({subject: {repository_id: 'r', task_id: true}}),
    ],
    ['a check without a name', harnesses, {required_checks: [{covers: []}]}],
    ['a check that is a number', harnesses, {required_checks: [1]}],
    ['a blank check', harnesses, {required_checks: ['']}],
    ['101 acceptance lines', harnesses, {accept: Array.from({length: 101}, () => 'x')}],
    ['a line of 2001 code points', harnesses, {accept: ['\u{1F600}'.repeat(2001)]}],
    ['an inherited name', harnesses, JSON.parse('{"__proto__": 1, "constructor": 2}')],
  ] as const)
    it(`rejects ${what}`, async () => {
      assert.notDeepEqual(await violationsOf(contract, value), [])
    })

  it('supports only some keywords', () => {
    assert.throws(() => plainViolations({pattern: 'x'}, 'x'), TypeError)
  })
})
