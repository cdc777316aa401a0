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
  it('and its steps are what their contracts say', async () => {
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

  it('has only steps that are taken with something that is there', async () => {
    const {commandIDs} = await loadCommands()
    const known = new Set([
      ...commandIDs.map((id) => `svc ${id.replaceAll(':', ' ')}`),
      ...operations.flatMap(({bindings: {rpc, tool}}) => [rpc?.method, ...(rpc?.aliases ?? []), tool?.name]),
    ])
    for (const {step_id, primary_operation_id: operation, maturity} of canonicalJourneySteps) {
      if (maturity === 'spec_only') assert.equal(operation, undefined, step_id)
      else assert.ok(known.has(operation), `${step_id} is taken with ${operation}, which is not there`)
    }
  })
})

describe('the limitations of the program', () => {
  it('are what their contract says', async () => {
    assert.deepEqual(await contractViolations('journeys/limitations.v1', document), [])
  })

  it('are those that steps name, and no others, each once', () => {
    const ids = limitations.map(({id}) => id)
    const named = canonicalJourneySteps.flatMap(({limitation_ids = []}) => limitation_ids)
    assert.deepEqual([...ids].sort(), [...new Set(named)].sort())
    assert.equal(new Set(ids).size, ids.length)
  })

  it('are each a sentence, and come from files that are there', () => {
    for (const {id, title, code_pointer: pointer} of limitations) {
      assert.match(title, /^[A-Z].*\.$/, id)
      if (pointer !== undefined) assert.ok(existsSync(projectFile(pointer)), `${id}: ${pointer}`)
    }
  })

  for (const [what, change] of [
    ['a member that nobody knows', {owner: 'me'}],
    ['no severity', {severity: undefined}],
    ['an unknown severity', {severity: 'fatal'}],
    ['an id of another form', {id: 'L-1'}],
    ['a wave that is none', {mitigation_wave: 'soon'}],
  ] as const)
    it(`cannot have ${what}`, async () => {
      const [first] = limitations
      const changed = {...document, limitations: [{...first, ...change}]}
      assert.notDeepEqual(await contractViolations('journeys/limitations.v1', changed), [])
    })
})
