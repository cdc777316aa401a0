import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {emitsCosts, resolveTelemetry} from '../../src/telemetry/index.js'

const under = (env: Readonly<Record<string, string>>) => resolveTelemetry({env}).telemetry

describe('SVC_TELEMETRY', () => {
  for (const value of ['off', '0', 'false'])
    it(`disables everything if it is ${value}`, () => {
      const env = {SVC_MCP_LLM_COST_EVENTS: '1', SVC_TELEMETRY: value}
      assert.deepEqual(under(env), {metrics: false, costEvents: false, workflowJournal: false})
    })

  it('is on by default', () => {
    assert.equal(under({}).metrics, true)
  })
})

describe('SVC_MCP_LLM_COST_EVENTS', () => {
  for (const [value, persistent, inMemory] of [
    ['1', true, true],
    ['true', true, true],
    ['0', false, false],
    ['false', false, false],
    ['', false, true],
    ['sometimes', false, true],
  ] as const)
    it(`"${value}" emits costs with a persistent store: ${persistent}, in memory: ${inMemory}`, () => {
      const telemetry = under({SVC_MCP_LLM_COST_EVENTS: value})
      assert.deepEqual(
        [true, false].map((isKept) => emitsCosts({isKept, telemetry})),
        [persistent, inMemory],
      )
    })
})
