import type {WorkMetricV1} from '../contracts/index.js'
import {sessionOf} from './metric-types.js'
import {type MetricPlace, recordMetric} from './metrics.js'
import type {Telemetry} from './switches.js'

/** Where work is recorded, and whether metrics are. */
export interface WorkPlace extends MetricPlace {
  readonly telemetry: Telemetry
  /** Unix ms. */
  readonly now: () => number
}

type Name = WorkMetricV1['name']
type Details<N extends Name> = Extract<WorkMetricV1, {name: N}>['details']

/** Records a metric about the work of agents and models, unless metrics are disabled. Never throws. */
export function recordWork<N extends Name>(
  place: WorkPlace,
  name: N,
  {value = null, details}: {value?: number | null; details: Details<N>},
): void {
  if (!place.telemetry.metrics) return
  const {repositoryId, now} = place
  recordMetric(place, {
    sessionId: sessionOf(name, repositoryId),
    type: name,
    value,
    metadata: {name, repository_id: repositoryId, details},
    nowMs: now(),
  })
}
