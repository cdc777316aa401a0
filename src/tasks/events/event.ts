import type {OrchestrationEventV1} from '../../contracts/index.js'

/** An event as it is stored and printed. Ids grow in the order of the transactions that wrote them. */
export type EventRecord = OrchestrationEventV1
/** An event payload. `type` is the tag on the wire; the other members are its data. */
export type OrchestratorEvent = EventRecord['kind']
export type EventType = OrchestratorEvent['type']
