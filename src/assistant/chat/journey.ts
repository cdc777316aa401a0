import type {JourneyEnvelopeV1} from '../../contracts/index.js'

/** The journey envelope of a request, stored with both turns and returned. */
export type Journey = {
  readonly [K in keyof JourneyEnvelopeV1 as string extends K ? never : K]: JourneyEnvelopeV1[K]
}

/** The trace of a request: its trace id, or else its correlation id. */
export const traceOf = ({trace_id: trace, correlation_id: standIn}: Pick<Journey, 'trace_id' | 'correlation_id'>) =>
  trace ?? standIn ?? undefined
