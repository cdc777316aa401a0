import {sectionSettings} from '../setting.js'
import {boolean, integer, milliseconds, number} from '../types.js'

/** Assignment of tasks to agents. */
export const orchestratorRoutingSettings = sectionSettings('orchestrator', () => ({
  socratesReputationRouting: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_SOCRATES_REPUTATION_ROUTING'],
    default: false,
    doc: 'Prefer agents with a good record of completed tasks.',
  },
  socratesReputationWeight: {
    type: number({min: 0, max: 100}),
    env: ['SVC_ORCHESTRATOR_SOCRATES_REPUTATION_WEIGHT'],
    default: 1,
    doc: 'Routing points for an agent that has never failed.',
  },
  routingExplorationEpsilon: {
    type: number({min: 0, max: 1}),
    default: 0,
    doc: 'Share of tasks that go to a random suitable agent if attention is enabled.',
  },
  trustTaskCompletionFloor: {
    type: number({min: 0, max: 1}),
    default: 0.25,
    doc: 'Trust in completed work below which an agent gets a task only if there is no other agent.',
  },
  trustTaskCompletionWeight: {
    type: number({min: 0, max: 100}),
    default: 1.5,
    doc: 'Routing points for full trust in completed work.',
  },
  trustEwmaAlpha: {
    type: number({min: 0.01, max: 1, clamp: true}),
    env: ['SVC_ORCHESTRATOR_TRUST_EWMA_ALPHA'],
    default: 0.1,
    doc: 'Weight of the latest outcome in the moving average of trust.',
  },
  trustProvisionalThreshold: {
    type: integer({min: 0}),
    default: 5,
    doc: 'Number of outcomes that an agent needs to be trusted provisionally.',
  },
  trustTrustedThreshold: {
    type: integer({min: 0}),
    default: 20,
    doc: 'Number of outcomes that an agent needs to be trusted.',
  },
  localBreakevenTokens: {
    type: integer({min: 0}),
    default: 9_100_000,
    doc: 'Tokens of local work above which agents outside the local tier are avoided.',
  },
  repoShardSpecializationWeight: {
    type: number({min: 0}),
    default: 1.5,
    doc: 'Routing points for an agent that is reliable in the skill of a shard task.',
  },
  repoShardValidationFailurePenalty: {
    type: number({min: 0}),
    default: 0.8,
    doc: 'Routing points deducted per recent failure of an agent that would validate a shard.',
  },
  repoReduceConflictCooldownPenalty: {
    type: number({min: 0}),
    default: 2.5,
    doc: 'Routing points deducted from an agent that recently hit a conflict while merging shards.',
  },
  repoReduceConflictCooldownMs: {
    type: milliseconds(),
    default: 300_000,
    doc: 'Time for which a merge conflict counts against an agent, in milliseconds.',
  },
  meshRoutingExperimental: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_MESH_ROUTING_EXPERIMENTAL'],
    default: false,
    doc: 'Take remote nodes into account when routing tasks by label.',
  },
  meshRebalanceOnRemoteSchedulableDrop: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_MESH_REBALANCE_ON_REMOTE_SCHEDULABLE_DROP'],
    default: false,
    doc: 'Rebalance queued tasks when fewer nodes can receive work; requires mesh_routing_experimental.',
  },
  meshReplayQueuedRoutesOnRemoteSchedulableDrop: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_MESH_REPLAY_QUEUED_ROUTES_ON_REMOTE_SCHEDULABLE_DROP'],
    default: false,
    doc: 'Route queued tasks again when fewer nodes can receive work; requires mesh_routing_experimental.',
  },
  meshTrainingRoutingExperimental: {
    type: boolean('strict'),
    default: false,
    doc: 'Prefer agents with a GPU for training tasks.',
  },
  meshTrainingBudgetPressure: {
    type: number({min: 0, max: 1, clamp: true}),
    default: 0,
    doc: 'Budget pressure that keeps large training tasks off an agent, from none (0) to full (1).',
  },
}))
