import {type Capabilities, hardCapabilities, noCapabilities} from '../../workspace/index.js'
import {isSchedulable, type RemoteHint} from './remote.js'
import type {RoutingAgent, RoutingPolicy, RoutingRequest} from './request.js'

/** A reason to prefer or avoid an agent. No term excludes an agent. */
export interface Term {
  term: string
  /** Evaluated once per task, so that a term that does not apply costs nothing per agent. */
  applies(task: RoutedTask): boolean
  points(agent: RoutingAgent, task: RoutedTask): number
}

/** A task with the values that the terms share, computed once. */
export interface RoutedTask {
  request: RoutingRequest
  policy: RoutingPolicy
  needs: Capabilities
  /** Agent name -> number of the manifest's files whose group has it as default agent. */
  defaultVotes: ReadonlyMap<string, number>
  phase: string
  isTraining: boolean
  hasRemote: boolean
}

/** GPU memory from which a training task counts towards budget pressure, MiB. */
const largeTrainingVramMb = 12_288

const missing = -10_000
const tooSmall = -5000
const noAccelerator = -1500
const beyondBreakEven = -50_000

export function routedTask(request: RoutingRequest, policy: RoutingPolicy, remote: readonly RemoteHint[]): RoutedTask {
  const needs = request.requirements ?? noCapabilities
  return {
    request,
    policy,
    needs,
    defaultVotes: defaultVotes(request),
    phase: request.phaseLabel.toLowerCase(),
    isTraining: policy.meshTrainingRoutingExperimental && trains(request.description, needs.labels),
    hasRemote: policy.meshRoutingExperimental && remote.some(isSchedulable),
  }
}

function defaultVotes({groupVotes, defaultAgents}: RoutingRequest): ReadonlyMap<string, number> {
  const votes = new Map<string, number>()
  for (const [group, files] of groupVotes) {
    const agent = defaultAgents.get(group)
    if (agent !== undefined) votes.set(agent, (votes.get(agent) ?? 0) + files)
  }
  return votes
}

/**
 * True if a label or a word in the description indicates training: `train`, `training`, `retrain`, not `constraint`.
 */
const trains = (description: string, labels: readonly string[]) =>
  labels.some((label) => label === 'workload=train' || label.startsWith('pool=train')) ||
  /\b(?:pre|re)?train/i.test(description)

const hasGpu = (it: Capabilities) => it.gpu_cuda || it.gpu_metal || it.gpu_vulkan || it.gpu_webgpu

const meets = (offered: number | undefined, needed = 0) => needed === 0 || (offered !== undefined && offered >= needed)

const covers = (agent: RoutingAgent, {needs}: RoutedTask) =>
  needs.labels.every((label) => agent.capabilities.labels.includes(label))

const shardPhases = ['shard_gen', 'shard_validate', 'reduce']

/** Reliability in the skill that the task names, or else in its phase; 0 if unknown. */
function shardSkill({skillReliability}: RoutingAgent, {request, phase}: RoutedTask): number {
  const skill = request.skill ?? phase
  return Object.hasOwn(skillReliability, skill) ? (skillReliability[skill] ?? 0) : 0
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

const unknownReliability = 0.5

/** All terms, in the order in which a score is explained. */
export const terms: readonly Term[] = [
  {
    term: 'owned_files',
    applies: ({request}) => request.ownedFiles.size > 0,
    points: (agent, {request}) => 10 * (request.ownedFiles.get(agent.id) ?? 0),
  },
  {
    term: 'group_default',
    applies: ({defaultVotes}) => defaultVotes.size > 0,
    points: (agent, {defaultVotes}) => 15 * (defaultVotes.get(agent.name) ?? 0),
  },
  {
    term: 'group_name',
    applies: ({request}) => request.groupVotes.size > 0,
    points: (agent, {request}) => 5 * (request.groupVotes.get(agent.name) ?? 0),
  },
  {term: 'load', applies: () => true, points: (agent) => -0.1 * agent.load},
  ...hardCapabilities.map(
    (flag): Term => ({
      term: `missing_${flag}`,
      applies: ({needs}) => needs[flag],
      points: (agent) => (agent.capabilities[flag] ? 0 : missing),
    }),
  ),
  {
    term: 'missing_labels',
    applies: ({needs}) => needs.labels.length > 0,
    points: (agent, task) => (covers(agent, task) ? 0 : missing),
  },
  {
    term: 'vram',
    applies: ({needs}) => (needs.min_vram_mb ?? 0) > 0,
    points: (agent, {needs}) => (meets(agent.capabilities.min_vram_mb, needs.min_vram_mb) ? 0 : tooSmall),
  },
  {
    term: 'cpu_cores',
    applies: ({needs}) => (needs.min_cpu_cores ?? 0) > 0,
    points: (agent, {needs}) => (meets(agent.capabilities.cpu_cores, needs.min_cpu_cores) ? 0 : tooSmall),
  },
  {
    term: 'prefer_gpu_compute',
    applies: ({needs}) => needs.prefer_gpu_compute,
    points: ({capabilities}) => (hasGpu(capabilities) || capabilities.npu ? 0 : noAccelerator),
  },
  {
    term: 'remote_labels',
    applies: ({hasRemote, needs}) => hasRemote && needs.labels.length > 0,
    points: (agent, task) => (covers(agent, task) ? 0.25 : 0),
  },
  {
    term: 'training_gpu',
    applies: ({isTraining}) => isTraining,
    points: ({capabilities}) => (hasGpu(capabilities) ? 0.75 : 0),
  },
  {
    term: 'training_vram',
    applies: ({isTraining, needs}) => isTraining && (needs.min_vram_mb ?? 0) > 0,
    points: (agent, {needs}) => (meets(agent.capabilities.min_vram_mb, needs.min_vram_mb) ? 0.75 : -0.5),
  },
  {
    term: 'training_budget',
    applies: ({isTraining, needs}) => isTraining && (needs.min_vram_mb ?? 0) >= largeTrainingVramMb,
    points: (_, {policy}) => -2 * Math.min(Math.max(policy.meshTrainingBudgetPressure, 0), 1),
  },
  {
    term: 'training_labels',
    applies: ({isTraining}) => isTraining,
    points: (agent, task) => (covers(agent, task) ? 0.25 : 0),
  },
  {
    term: 'local_breakeven',
    applies: ({request, policy}) => (request.localTokens ?? 0) > policy.localBreakevenTokens,
    points: ({capabilities}) => (capabilities.routing_tier === 'local' ? 0 : beyondBreakEven),
  },
  {
    term: 'shard_skill',
    applies: ({phase}) => shardPhases.includes(phase),
    points: (agent, task) => shardSkill(agent, task) * task.policy.repoShardSpecializationWeight,
  },
  {
    term: 'shard_validation_failures',
    applies: ({phase}) => phase === 'shard_validate',
    points: (agent, {policy}) => -policy.repoShardValidationFailurePenalty * agent.recentValidationFailures,
  },
  {
    term: 'reducer_cooldown',
    applies: ({phase}) => phase === 'reduce',
    points: ({reducerCooldownUntilMs = 0}, {policy, request}) =>
      reducerCooldownUntilMs > request.nowMs ? -policy.repoReduceConflictCooldownPenalty : 0,
  },
  {
    term: 'completion_floor',
    applies: ({policy}) => policy.socratesReputationRouting,
    points: ({completionTrust = Infinity}, {policy}) =>
      completionTrust < policy.trustTaskCompletionFloor ? missing : 0,
  },
  {
    term: 'completion_trust',
    applies: ({policy}) => policy.socratesReputationRouting,
    points: ({completionTrust = 0}, {policy}) => completionTrust * policy.trustTaskCompletionWeight,
  },
  {
    term: 'attention_trust',
    applies: ({policy}) => policy.attentionEnabled,
    points: ({trust}, {policy}) => trust * policy.attentionTrustRoutingWeight,
  },
  {
    term: 'reputation',
    applies: ({policy}) => policy.socratesReputationRouting,
    points: ({reliability = unknownReliability}, {policy}) => reliability * policy.socratesReputationWeight,
  },
  {
    term: 'skill_reputation',
    applies: ({policy}) => policy.socratesReputationRouting,
    points: ({skillReliability}, {policy}) =>
      mean(Object.values(skillReliability)) * policy.socratesReputationWeight * 0.5,
  },
  {
    term: 'workflow',
    applies: ({policy}) => policy.socratesReputationRouting,
    points: ({hasWorkflow}, {policy}) => (hasWorkflow ? policy.socratesReputationWeight * 0.1 : 0),
  },
]
