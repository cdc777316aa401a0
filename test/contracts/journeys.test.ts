import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {readFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {loadCommands} from '../../src/cli/package.js'
import {contractViolations, findContract, readDocument} from '../../src/contracts/index.js'
import {canonicalJourney, canonicalJourneySteps} from '../../src/journeys/canonical.js'
import {operations} from '../../src/operations/index.js'
import {projectFile} from '../support/project.js'

interface Limitations {
  version: 1
  limitations: {id: string; title: string; category: string; severity: string; code_pointer?: string}[]
}

const {file} = await findContract('journeys/limitations.v1.yaml')
const document = (await readDocument(await readFile(file, 'utf8'), file)) as Limitations
const {limitations} = document

describe('the canonical journey', () => {
  it('and its steps match their contracts', async () => {
    assert.deepEqual(await contractViolations('journeys/definition.v1', canonicalJourney), [])
    for (const step of canonicalJourneySteps)
      assert.deepEqual(await contractViolations('journeys/step.v1', step), [], step.step_id)
    assert.deepEqual(
      canonicalJourneySteps.map(({ordinal}) => ordinal),
      canonicalJourneySteps.map((_, i) => i + 1),
    )
    const ids = canonicalJourneySteps.map(({step_id}) => step_id)
    assert.equal(new Set(ids).size, ids.length)
  })

  it('has only steps with existing operations', async () => {
    const {commandIDs} = await loadCommands()
    const known = new Set([
      ...commandIDs.map((id) => `svc ${id.replaceAll(':', ' ')}`),
      ...operations.flatMap(({bindings: {rpc, tool}}) => [rpc?.method, ...(rpc?.aliases ?? []), tool?.name]),
    ])
    for (const {step_id, primary_operation_id: operation, maturity} of canonicalJourneySteps) {
      if (maturity === 'spec_only') assert.equal(operation, undefined, step_id)
      else assert.ok(known.has(operation), `${step_id} has the unknown operation ${operation}`)
    }
  })
})

describe('the limitations of the program', () => {
  it('match their contract', async () => {
    assert.deepEqual(await contractViolations('journeys/limitations.v1', document), [])
  })

  it('are exactly those that steps refer to', () => {
    const ids = limitations.map(({id}) => id)
    const named = canonicalJourneySteps.flatMap(({limitation_ids = []}) => limitation_ids)
    assert.deepEqual([...ids].sort(), [...new Set(named)].sort())
    assert.equal(new Set(ids).size, ids.length)
  })

  it('have a sentence as title, and existing source files', () => {
    for (const {id, title, code_pointer: pointer} of limitations) {
      assert.match(title, /^[A-Z].*\.$/, id)
      if (pointer !== undefined) assert.ok(existsSync(projectFile(pointer)), `${id}: ${pointer}`)
    }
  })

  for (const [what, change] of [
    ['an unknown member', {owner: 'me'}],
    ['no severity', {severity: undefined}],
    ['an unknown severity', {severity: 'fatal'}],
    ['an id with a different format', {id: 'L-1'}],
    ['an invalid wave', {mitigation_wave: 'soon'}],
  ] as const)
    it(`cannot have ${what}`, async () => {
      const [first] = limitations
      const changed = {...document, limitations: [{...first, ...change}]}
      assert.notDeepEqual(await contractViolations('journeys/limitations.v1', changed), [])
    })
})
