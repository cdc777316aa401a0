import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {CanonicalSteps} from '../../src/journeys/index.js'
import {assertFits, orchWorkspace} from '../support/orch-workspace.js'

describe('svc orch journey', {concurrency: 3}, () => {
  it('shows the steps from an empty workspace to verified work', async (t) => {
    const {text, json} = await orchWorkspace(t)
    const [header = '', ...lines] = (await text(['orch', 'journey'])).trimEnd().split('\n')
    assert.match(header, /^STEP +WHAT +WHO +WITH +MATURITY +LIMITS$/)
    const {journey_id, steps} = await json<CanonicalSteps>('cli/orch-journey.v1', ['orch', 'journey'])
    assert.equal(journey_id, 'canonical_journey.v1.greenfield_svc_devloop')
    for (const step of steps) await assertFits('journeys/step.v1', step)
    assert.equal(lines.length, steps.length)
    assert.match(lines[1] ?? '', /^2 +open_workspace_store +runtime +orch\.workspace_journey +stable +L-021, L-023$/)
  })

  it('accepts a journey id', async (t) => {
    const {text, fails} = await orchWorkspace(t)
    assert.equal(
      await text(['orch', 'journey', 'canonical_journey.v1.greenfield_svc_devloop']),
      await text(['orch', 'journey']),
    )
    const message = await fails(['orch', 'journey', 'mine'], 3, 'journey_not_found')
    assert.equal(message, 'Journey mine does not exist; known journeys: canonical_journey.v1.greenfield_svc_devloop.')
  })
})
