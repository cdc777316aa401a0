import type {JourneyEnvelopeV1} from '../../contracts/index.js'

/** What a request says of itself: the envelope of its journey, as it is kept with both turns and given back. */
export type Journey = {
  readonly [K in keyof JourneyEnvelopeV1 as string extends K ? never : K]: JourneyEnvelopeV1[K]
}

/** Under which trace a request is found again: that of its trace id, else that of what stands in for one. */
export const traceOf = ({trace_id: trace, correlation_id: standIn}: Pick<Journey, 'trace_id' | 'correlation_id'>) =>
  trace ?? standIn ?? undefined
