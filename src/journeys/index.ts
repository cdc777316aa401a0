/** Journeys: the ids that connect the records of one piece of work, and the steps of the canonical journey. */
export {type CanonicalSteps, canonicalSteps} from './canonical-steps.js'
export {
  type CognitiveProfile,
  cognitiveProfiles,
  type JourneyEnvelope,
  type JourneyIds,
  type JourneySurface,
  journeyEnvelope,
} from './envelope.js'
export {journeyFragment} from './schema.js'
export type {JourneyStep} from './step.js'
