import {SvcError} from '../errors/index.js'
import type {WorkspaceContext} from '../workspace/index.js'
import {canonicalJourney} from './canonical.js'
import type {JourneyStep} from './step.js'

/** A journey and its steps, in order. */
export interface CanonicalSteps {
  journey_id: string
  steps: JourneyStep[]
}

/** The steps of a journey; default: the canonical one. @throws journey_not_found */
export function canonicalSteps(
  {store}: WorkspaceContext,
  journeyId: string = canonicalJourney.journey_id,
): CanonicalSteps {
  const known = store
    .all<{journey_id: string}>('SELECT journey_id FROM developer_journey_definitions ORDER BY journey_id')
    .map((row) => row.journey_id)
  if (!known.includes(journeyId)) throw new SvcError('journey_not_found', {journey: journeyId, known})
  const rows = store.all<{step_json: string}>(
    'SELECT step_json FROM developer_journey_steps WHERE journey_id = ? ORDER BY ordinal',
    [journeyId],
  )
  return {journey_id: journeyId, steps: rows.map((row) => JSON.parse(row.step_json) as JourneyStep)}
}
