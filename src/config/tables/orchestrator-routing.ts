import {sectionSettings} from '../setting.js'
import {boolean, integer, milliseconds, number} from '../types.js'

/** Which agent gets a task. */
export const orchestratorRoutingSettings = sectionSettings('orchestrator', () => ({
  socratesReputationRouting: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_SOCRATES_REPUTATION_ROUTING'],
    default: false,
    doc: 'Prefer agents whose answers held.',
  },
  socratesReputationWeight: {
    type: number({min: 0, max: 100}),
    env: ['SVC_ORCHESTRATOR_SOCRATES_REPUTATION_WEIGHT'],
    default: 1,
    doc: 'Points for an agent that never failed.',
  },
  routingExplorationEpsilon: {
    type: number({min: 0, max: 1}),
    default: 0,
    doc: 'Share of tasks that go to a suitable agent by chance, where attention is on.',
  },
  trustTaskCompletionFloor: {
    type: number({min: 0, max: 1}),
    default: 0.25,
    doc: 'Trust in completed work below which an agent gets no task while there is another.',
  },
  trustTaskCompletionWeight: {
    type: number({min: 0, max: 100}),
    default: 1.5,
    doc: 'Points for full trust in completed work.',
  },
  trustEwmaAlpha: {
    type: number({min: 0.01, max: 1, clamp: true}),
    env: ['SVC_ORCHESTRATOR_TRUST_EWMA_ALPHA'],
    default: 0.1,
    doc: 'Weight of the latest outcome in the trust of an agent.',
  },
  trustProvisionalThreshold: {
    type: integer({min: 0}),
    default: 5,
    doc: 'Outcomes that an agent needs before it is trusted provisionally.',
  },
  trustTrustedThreshold: {
    type: integer({min: 0}),
    default: 20,
    doc: 'Outcomes that an agent needs before it is trusted.',
  },
  localBreakevenTokens: {
    type: integer({min: 0}),
    default: 9_100_000,
    doc: 'Tokens of local work beyond which agents of another tier than local are passed over.',
  },
  repoShardSpecializationWeight: {
    type: number({min: 0}),
    default: 1.5,
    doc: 'Points for an agent that is reliable in the kind of shard a task works on.',
  },
  repoShardValidationFailurePenalty: {
    type: number({min: 0}),
    default: 0.8,
    doc: 'Points off for each recent failure of an agent that would validate a shard.',
  },
  repoReduceConflictCooldownPenalty: {
    type: number({min: 0}),
    default: 2.5,
    doc: 'Points off for an agent that lately met a conflict while it merged shards.',
  },
  repoReduceConflictCooldownMs: {
    type: milliseconds(),
    default: 300_000,
    planned: true,
    doc: 'Milliseconds for which a conflict while merging counts.',
  },
  meshRoutingExperimental: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_MESH_ROUTING_EXPERIMENTAL'],
    default: false,
    doc: 'Let the labels of remote nodes count when a task is given to an agent.',
  },
  meshTrainingRoutingExperimental: {
    type: boolean('strict'),
    default: false,
    doc: 'Let training tasks prefer agents with a GPU.',
  },
  meshTrainingBudgetPressure: {
    type: number({min: 0, max: 1, clamp: true}),
    default: 0,
    doc: 'How much a tight budget keeps large training tasks off an agent.',
  },
}))
