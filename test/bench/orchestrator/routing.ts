import {median, round} from '../../../src/bench/measure.js'
import {randomSource} from '../../../src/sampling/index.js'
import {chooseAgent} from '../../../src/tasks/routing/choose.js'
import type {RoutingAgent, RoutingPolicy, RoutingRequest} from '../../../src/tasks/routing/score.js'
import {noCapabilities} from '../../../src/workspace/capabilities.js'

const agentCount = 64
const rounds = 41
const perRound = 2000

/** Settings that enable all scores. */
const policy: RoutingPolicy = {
  attentionEnabled: true,
  attentionTrustRoutingWeight: 2,
  socratesReputationRouting: true,
  socratesReputationWeight: 1,
  routingExplorationEpsilon: 0,
  trustTaskCompletionFloor: 0.25,
  trustTaskCompletionWeight: 1.5,
  localBreakevenTokens: 9_100_000,
  repoShardSpecializationWeight: 1.5,
  repoShardValidationFailurePenalty: 0.8,
  repoReduceConflictCooldownPenalty: 2.5,
  meshRoutingExperimental: true,
  meshTrainingRoutingExperimental: true,
  meshTrainingBudgetPressure: 0.5,
  fallbackToSingleAgent: true,
}

/** Time to route a task among 64 agents with files, groups, requirements and all costly settings, µs per decision. */
export async function orchestratorRouting() {
  const random = randomSource(64)
  const agents = Array.from(
    {length: agentCount},
    (_, i): RoutingAgent => ({
      id: i + 1,
      name: `agent-${i + 1}`,
      load: random() * 10,
      capabilities: {
        ...noCapabilities,
        gpu_cuda: random() < 0.5,
        min_vram_mb: 24_576,
        cpu_cores: 16,
        labels: ['pool=dev', 'region=eu', 'workload=train'],
      },
      trust: random(),
      completionTrust: random(),
      reliability: random(),
      skillReliability: {typescript: random(), rust: random()},
      recentValidationFailures: 0,
      hasWorkflow: false,
    }),
  )
  const requests = agents.map(
    ({id, name}): RoutingRequest => ({
      ownedFiles: new Map([
        [id, 2],
        [(id % agentCount) + 1, 1],
      ]),
      groupVotes: new Map([
        [name, 1],
        ['docs', 2],
      ]),
      firstGroup: 'docs',
      defaultAgents: new Map([['docs', 'agent-7']]),
      requirements: {
        ...noCapabilities,
        gpu_cuda: true,
        min_vram_mb: 16_384,
        min_cpu_cores: 8,
        prefer_gpu_compute: true,
        labels: ['workload=train', 'region=eu'],
      },
      description: 'Generate the shards of the importer and keep the public interface as it is.',
      phaseLabel: 'shard_validate',
      skill: 'typescript',
      nowMs: 0,
    }),
  )
  const around = {remote: [], random}
  let spawned = 0
  const times: number[] = []
  for (let i = -3; i < rounds; i++) {
    const started = performance.now()
    for (let n = 0; n < perRound; n++)
      if (chooseAgent(requests[n % agentCount] as RoutingRequest, agents, policy, around).kind === 'spawn') spawned++
    if (i >= 0) times.push(((performance.now() - started) * 1000) / perRound)
  }
  if (spawned > 0) throw new Error('Every task has an agent that it is tied to.')
  return {agents: agentCount, choose_us: round(median(times)), slowest_round_us: round(Math.max(...times))}
}
