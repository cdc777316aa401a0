import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {NodeRow} from '../../src/tasks/base/polled-nodes.js'
import {chooseAgent} from '../../src/tasks/routing/choose.js'
import {decidePlacement, type PlacementFacts} from '../../src/tasks/routing/placement.js'
import {isGpuEligible, isSchedulable, type RemoteHint, remoteHint} from '../../src/tasks/routing/remote.js'
import {type RoutingAgent, type RoutingPolicy, type RoutingRequest, scoreAgent} from '../../src/tasks/routing/score.js'
import {type Capabilities, noCapabilities} from '../../src/workspace/capabilities.js'
import {placementReasons} from '../../src/workspace/vocabulary.js'
import {seeded} from '../support/random.js'

const defaults: RoutingPolicy = {
  attentionEnabled: false,
  attentionTrustRoutingWeight: 2,
  socratesReputationRouting: false,
  socratesReputationWeight: 1,
  routingExplorationEpsilon: 0,
  trustTaskCompletionFloor: 0.25,
  trustTaskCompletionWeight: 1.5,
  localBreakevenTokens: 9_100_000,
  repoShardSpecializationWeight: 1.5,
  repoShardValidationFailurePenalty: 0.8,
  repoReduceConflictCooldownPenalty: 2.5,
  meshRoutingExperimental: false,
  meshTrainingRoutingExperimental: false,
  meshTrainingBudgetPressure: 0,
  fallbackToSingleAgent: true,
}
const reputation = {...defaults, socratesReputationRouting: true}
const training = {...defaults, meshTrainingRoutingExperimental: true}

const has = (some: Partial<Capabilities>): Capabilities => ({...noCapabilities, ...some})

const agent = (id: number, some: Partial<RoutingAgent> = {}): RoutingAgent => ({
  id,
  name: `agent-${id}`,
  load: 0,
  capabilities: noCapabilities,
  trust: 0.5,
  skillReliability: {},
  recentValidationFailures: 0,
  hasWorkflow: false,
  ...some,
})

const request = (some: Partial<RoutingRequest> = {}): RoutingRequest => ({
  ownedFiles: new Map(),
  groupVotes: new Map(),
  defaultAgents: new Map(),
  description: 'fix the parser',
  phaseLabel: 'single_shot',
  nowMs: 1_000_000,
  ...some,
})

const neverRandom = () => {
  throw new Error('Nothing is random here.')
}

function chosen(
  task: RoutingRequest,
  agents: readonly RoutingAgent[],
  policy: RoutingPolicy = defaults,
  remote: readonly RemoteHint[] = [],
): string {
  const choice = chooseAgent(task, agents, policy, {remote, random: neverRandom})
  return choice.kind === 'agent' ? choice.agent.name : `spawn ${choice.name}`
}

const node = (some: Partial<NodeRow> = {}) =>
  remoteHint({id: 'gpu-1', last_seen_unix_ms: 1_000_000, ...some}, 60_000, 1_000_000)

interface Case {
  term: string
  task: RoutingRequest
  policy?: RoutingPolicy
  remote?: readonly RemoteHint[]
  /** This agent would lose without the term: it has the higher load. */
  better: Partial<RoutingAgent>
  /** The load of this agent is slightly lower. */
  worse: Partial<RoutingAgent>
  /** Points of both agents for the term. */
  points: [better: number, worse: number]
}

const hard = ['gpu_cuda', 'gpu_metal', 'gpu_vulkan', 'gpu_webgpu', 'npu', 'visual_eligible', 'multi_modal'] as const
const voted = {groupVotes: new Map([['docs', 2]])}

/** In each case, the two agents differ in one property besides their load. */
const cases: Case[] = [
  {
    term: 'owned_files',
    task: request({ownedFiles: new Map([[1, 3]])}),
    better: {},
    worse: {},
    points: [30, 0],
  },
  {
    term: 'group_default',
    task: request({...voted, defaultAgents: new Map([['docs', 'writer']])}),
    better: {name: 'writer'},
    worse: {},
    points: [30, 0],
  },
  {term: 'group_name', task: request(voted), better: {name: 'docs'}, worse: {}, points: [10, 0]},
  ...hard.map((flag) => ({
    term: `missing_${flag}`,
    task: request({requirements: has({[flag]: true})}),
    better: {capabilities: has({[flag]: true})},
    worse: {},
    points: [0, -10_000] as [number, number],
  })),
  {
    term: 'missing_labels',
    task: request({requirements: has({labels: ['pool=a', 'region=eu']})}),
    better: {capabilities: has({labels: ['region=eu', 'x=y', 'pool=a']})},
    worse: {capabilities: has({labels: ['pool=a']})},
    points: [0, -10_000],
  },
  {
    term: 'vram',
    task: request({requirements: has({min_vram_mb: 8192})}),
    better: {capabilities: has({min_vram_mb: 8192})},
    worse: {capabilities: has({min_vram_mb: 8191})},
    points: [0, -5000],
  },
  {
    term: 'vram',
    task: request({requirements: has({min_vram_mb: 1})}),
    better: {capabilities: has({min_vram_mb: 1})},
    worse: {},
    points: [0, -5000],
  },
  {
    term: 'cpu_cores',
    task: request({requirements: has({min_cpu_cores: 8})}),
    better: {capabilities: has({cpu_cores: 8})},
    worse: {capabilities: has({cpu_cores: 7})},
    points: [0, -5000],
  },
  ...(['gpu_cuda', 'gpu_metal', 'gpu_vulkan', 'gpu_webgpu', 'npu'] as const).map((flag) => ({
    term: 'prefer_gpu_compute',
    task: request({requirements: has({prefer_gpu_compute: true})}),
    better: {capabilities: has({[flag]: true})},
    worse: {},
    points: [0, -1500] as [number, number],
  })),
  {
    term: 'remote_labels',
    task: request({requirements: has({labels: ['pool=a']})}),
    policy: {...defaults, meshRoutingExperimental: true},
    remote: [node()],
    better: {capabilities: has({labels: ['pool=a']})},
    worse: {},
    points: [0.25, 0],
  },
  {
    term: 'training_gpu',
    task: request({description: 'Retrain the ranker'}),
    policy: training,
    better: {capabilities: has({gpu_metal: true})},
    worse: {},
    points: [0.75, 0],
  },
  {
    term: 'training_gpu',
    task: request({requirements: has({labels: ['pool=train-a']})}),
    policy: training,
    better: {capabilities: has({gpu_vulkan: true, labels: ['pool=train-a']})},
    worse: {capabilities: has({labels: ['pool=train-a']})},
    points: [0.75, 0],
  },
  {
    term: 'training_vram',
    task: request({description: 'training', requirements: has({min_vram_mb: 8192})}),
    policy: training,
    better: {capabilities: has({min_vram_mb: 8192})},
    worse: {},
    points: [0.75, -0.5],
  },
  {
    term: 'training_labels',
    task: request({requirements: has({labels: ['workload=train']})}),
    policy: training,
    better: {capabilities: has({labels: ['workload=train']})},
    worse: {},
    points: [0.25, 0],
  },
  {
    term: 'local_breakeven',
    task: request({localTokens: 9_100_001}),
    better: {capabilities: has({routing_tier: 'local'})},
    worse: {},
    points: [0, -50_000],
  },
  ...['shard_gen', 'SHARD_VALIDATE', 'reduce'].map((phaseLabel) => ({
    term: 'shard_skill',
    task: request({phaseLabel, skill: 'rust'}),
    better: {skillReliability: {rust: 0.8}},
    worse: {skillReliability: {[phaseLabel]: 1}},
    points: [0.8 * 1.5, 0] as [number, number],
  })),
  {
    term: 'shard_skill',
    task: request({phaseLabel: 'shard_gen'}),
    better: {skillReliability: {shard_gen: 0.6}},
    worse: {},
    points: [0.6 * 1.5, 0],
  },
  {
    term: 'shard_validation_failures',
    task: request({phaseLabel: 'shard_validate'}),
    better: {recentValidationFailures: 1},
    worse: {recentValidationFailures: 3},
    points: [-0.8, -0.8 * 3],
  },
  {
    term: 'reducer_cooldown',
    task: request({phaseLabel: 'reduce'}),
    better: {reducerCooldownUntilMs: 1_000_000},
    worse: {reducerCooldownUntilMs: 1_000_001},
    points: [0, -2.5],
  },
  {
    term: 'completion_floor',
    task: request(),
    policy: reputation,
    better: {completionTrust: 0.25},
    worse: {completionTrust: 0.249},
    points: [0, -10_000],
  },
  {
    term: 'completion_trust',
    task: request(),
    policy: reputation,
    better: {completionTrust: 0.9},
    worse: {completionTrust: 0.5},
    points: [0.9 * 1.5, 0.5 * 1.5],
  },
  {
    term: 'attention_trust',
    task: request(),
    policy: {...defaults, attentionEnabled: true},
    better: {trust: 0.9},
    worse: {trust: 0.5},
    points: [1.8, 1],
  },
  {
    term: 'reputation',
    task: request(),
    policy: reputation,
    better: {},
    worse: {reliability: 0.2},
    points: [0.5, 0.2],
  },
  {
    term: 'skill_reputation',
    task: request(),
    policy: reputation,
    better: {skillReliability: {a: 1, b: 0.6}},
    worse: {},
    points: [0.4, 0],
  },
  {
    term: 'workflow',
    task: request(),
    policy: {...reputation, socratesReputationWeight: 3},
    better: {hasWorkflow: true},
    worse: {},
    points: [0.1 * 3, 0],
  },
]

describe('a task', () => {
  for (const {term, task, policy = defaults, remote = [], better, worse, points} of cases) {
    const [one, other] = [agent(1, {load: 2, ...better}), agent(2, {load: 1, ...worse})]
    const name = `${term} (${points})`

    it(`goes to the agent preferred by ${name} despite its higher load`, () => {
      assert.equal(chosen(task, [other, one], policy, remote), one.name)
      assert.equal(chosen(task, [agent(8, {load: 2}), agent(9, {load: 1})], policy, remote), 'agent-9')
    })

    it(`explains the points of ${name}`, () => {
      const found = [one, other].map((each) => scoreAgent(task, each, policy, remote))
      assert.deepEqual(
        found.map(({terms}) => terms.find((each) => each.term === term)?.points ?? 0),
        points,
      )
      for (const {terms, total} of found) {
        assert.equal(
          total,
          terms.reduce((sum, each) => sum + each.points, 0),
        )
        assert.ok(terms.every((each) => each.points !== 0))
      }
    })

    it(`goes to the agent penalised by ${name} if there is no better one`, () => {
      assert.equal(chosen(task, [other], policy, remote), other.name)
    })
  }

  it('without properties goes to the least loaded agent', () => {
    assert.equal(chosen(request(), [agent(1, {load: 3}), agent(2, {load: 1}), agent(3, {load: 2})]), 'agent-2')
  })

  it('includes the load in the score', () => {
    assert.deepEqual(scoreAgent(request(), agent(1, {load: 4}), defaults, []), {
      total: -0.4,
      terms: [{term: 'load', points: -0.4}],
    })
  })

  it('prefers the owner of its file to the idle agent of its group', () => {
    const task = request({ownedFiles: new Map([[1, 1]]), groupVotes: new Map([['b', 1]])})
    const agents = [agent(1, {name: 'a', load: 4}), agent(2, {name: 'b'})]
    assert.deepEqual(
      agents.map((each) => scoreAgent(task, each, defaults, []).total),
      [9.6, 5],
    )
    assert.equal(chosen(task, agents), 'a')
  })

  it('avoids the owner of its file if that lacks GPU memory', () => {
    const task = request({
      ownedFiles: new Map([[1, 1]]),
      groupVotes: new Map([['b', 1]]),
      requirements: has({min_vram_mb: 16_384}),
    })
    const agents = [
      agent(1, {name: 'a', capabilities: has({min_vram_mb: 8192})}),
      agent(2, {name: 'b', capabilities: has({min_vram_mb: 24_576})}),
    ]
    assert.deepEqual(
      agents.map((each) => scoreAgent(task, each, defaults, []).total),
      [-4990, 5],
    )
    assert.equal(chosen(task, agents), 'b')
  })

  it('counts each unmet hard requirement', () => {
    const needs = has({gpu_cuda: true, npu: true, multi_modal: true})
    const {total} = scoreAgent(request({requirements: needs}), agent(1, {capabilities: has({npu: true})}), defaults, [])
    assert.equal(total, -20_000)
  })

  it('is subject to budget pressure only for large training', () => {
    const points = (min_vram_mb: number, pressure: number) =>
      scoreAgent(
        request({description: 'train', requirements: has({min_vram_mb})}),
        agent(1),
        {...training, meshTrainingBudgetPressure: pressure},
        [],
      ).terms.find(({term}) => term === 'training_budget')?.points ?? 0
    assert.deepEqual([points(12_288, 0.5), points(12_287, 0.5), points(12_288, 9), points(12_288, -1)], [-1, 0, -2, 0])
  })

  it('is not a training task because a word contains "train"', () => {
    const withGpu = agent(1, {capabilities: has({gpu_cuda: true})})
    assert.equal(scoreAgent(request({description: 'add a constraint'}), withGpu, training, []).total, 0)
    assert.equal(scoreAgent(request({description: 'train it'}), withGpu, defaults, []).total, 0)
  })

  it('gives no points for labels while no node is available', () => {
    const task = request({requirements: has({labels: ['pool=a']})})
    const policy = {...defaults, meshRoutingExperimental: true}
    const total = (remote: RemoteHint[], by = policy) =>
      scoreAgent(task, agent(1, {capabilities: has({labels: ['pool=a']})}), by, remote).total
    assert.deepEqual(
      [total([]), total([node({quarantined: true})]), total([node()], defaults), total([node()])],
      [0, 0, 0, 0.25],
    )
  })

  it('gives no points for unknown trust', () => {
    const {terms} = scoreAgent(request(), agent(1), reputation, [])
    assert.deepEqual(terms, [{term: 'reputation', points: 0.5}])
  })

  it('can run anywhere below the local token threshold', () => {
    assert.equal(scoreAgent(request({localTokens: 9_100_000}), agent(1), defaults, []).total, 0)
  })

  it('looks up skills by own members only', () => {
    const task = request({phaseLabel: 'reduce', skill: 'constructor'})
    assert.equal(scoreAgent(task, agent(1), defaults, []).total, 0)
  })

  it('breaks ties by lower load, then by lower id', () => {
    const task = request({ownedFiles: new Map([[7, 1]])})
    const tied = [agent(9, {load: 100}), agent(7, {load: 200}), agent(3, {load: 100})]
    assert.deepEqual(
      tied.map((each) => scoreAgent(task, each, defaults, []).total),
      [-10, -10, -10],
    )
    assert.equal(chosen(task, tied), 'agent-3')
    assert.equal(chosen(task, tied.slice(0, 2)), 'agent-9')
    assert.equal(chosen(task, tied.slice(0, 2).reverse()), 'agent-9')
  })
})

describe('a task without a matching agent', () => {
  const agents = [agent(1, {load: 1}), agent(2)]
  const rows: [what: string, task: Partial<RoutingRequest>, agents: RoutingAgent[], fallback: boolean, goes: string][] =
    [
      [
        'spawns the agent of its group',
        {firstGroup: 'docs', groupVotes: new Map([['docs', 1]])},
        agents,
        true,
        'spawn docs',
      ],
      ['spawns none for the catch-all group', {firstGroup: 'workspace'}, agents, true, 'agent-2'],
      ['spawns a general agent if configured', {}, agents, false, 'spawn general'],
      ['uses the existing general agent', {}, [...agents, agent(3, {name: 'general', load: 9})], false, 'general'],
      ['spawns the first agent', {}, [], true, 'spawn default'],
      ['spawns the first agent for the catch-all group', {firstGroup: 'workspace'}, [], false, 'spawn default'],
      ['spawns its group as the first agent', {firstGroup: 'docs'}, [], true, 'spawn docs'],
      [
        'goes to the owner of a file instead',
        {firstGroup: 'docs', ownedFiles: new Map([[1, 1]])},
        agents,
        true,
        'agent-1',
      ],
      [
        'ignores an owner that no longer exists',
        {firstGroup: 'docs', ownedFiles: new Map([[8, 1]])},
        agents,
        true,
        'spawn docs',
      ],
      [
        'goes to the default agent of a group instead',
        {firstGroup: 'docs', groupVotes: new Map([['docs', 1]]), defaultAgents: new Map([['docs', 'agent-1']])},
        agents,
        true,
        'agent-1',
      ],
      [
        'goes to the agent that meets its requirements instead',
        {firstGroup: 'docs', requirements: has({npu: true})},
        agents,
        false,
        'agent-2',
      ],
      ...[{min_vram_mb: 1}, {min_cpu_cores: 1}, {labels: ['a']}, {prefer_gpu_compute: true}].map(
        (needs): [string, Partial<RoutingRequest>, RoutingAgent[], boolean, string] => [
          `counts ${Object.keys(needs)} as a requirement`,
          {firstGroup: 'docs', requirements: has(needs)},
          agents,
          false,
          'agent-2',
        ],
      ),
      [
        'ignores an empty list of requirements',
        {firstGroup: 'docs', requirements: has({})},
        agents,
        true,
        'spawn docs',
      ],
    ]
  for (const [what, some, those, fallbackToSingleAgent, goes] of rows)
    it(what, () => assert.equal(chosen(request(some), those, {...defaults, fallbackToSingleAgent}), goes))
})

describe('exploration', () => {
  const policy = {...defaults, attentionEnabled: true, attentionTrustRoutingWeight: 0, routingExplorationEpsilon: 0.5}
  const task = request({requirements: has({gpu_cuda: true})})
  const cuda = {capabilities: has({gpu_cuda: true})}
  const agents = [agent(1, cuda), agent(2, {...cuda, load: 5}), agent(3), agent(4, {...cuda, load: 9})]
  const pick = (numbers: number[], by: RoutingPolicy = policy) => {
    const choice = chooseAgent(task, agents, by, {remote: [], random: () => numbers.shift() ?? 1})
    return choice.kind === 'agent' ? choice.agent.id : undefined
  }

  it('selects eligible agents with equal probability', () => {
    assert.deepEqual(
      [0, 0.34, 0.67, 0.999].map((where) => pick([0.49, where])),
      [1, 2, 4, 4],
    )
  })

  it('happens with its probability, and only if attention is enabled', () => {
    assert.equal(pick([0.5, 0.999]), 1)
    assert.equal(pick([0, 0.999], {...policy, attentionEnabled: false}), 1)
    assert.equal(pick([0, 0.999], {...policy, routingExplorationEpsilon: 0}), 1)
  })

  it('excludes agents below the floor', () => {
    const loaded = [agent(1), agent(2, {load: 10_000}), agent(3, {load: 10_001})]
    const found = [0, 0.4, 0.6, 0.99].map((where) => {
      const numbers = [0, where]
      const choice = chooseAgent(request(), loaded, policy, {remote: [], random: () => numbers.shift() ?? 1})
      return choice.kind === 'agent' ? choice.agent.id : undefined
    })
    assert.deepEqual(found, [1, 1, 2, 2])
  })

  it('selects the best if no agent is eligible', () => {
    const poor = [agent(1, {load: 2}), agent(2, {load: 1})]
    const choice = chooseAgent(task, poor, policy, {remote: [], random: () => 0})
    assert.ok(choice.kind === 'agent' && choice.agent.id === 2)
  })
})

describe('random agents', () => {
  it('yield the one with the highest score, with ties going to the lower load', () => {
    const {next: random, below} = seeded(17)
    const yes = () => random() < 0.5
    const some = (): Capabilities =>
      has({
        gpu_cuda: yes(),
        npu: yes(),
        prefer_gpu_compute: yes(),
        ...(yes() ? {min_vram_mb: 4096 * below(5)} : {}),
        ...(yes() ? {min_cpu_cores: below(9), cpu_cores: below(9)} : {}),
        labels: yes() ? [`pool=${below(2)}`] : [],
      })
    for (let round = 0; round < 500; round++) {
      const agents = Array.from({length: 1 + below(12)}, (_, i) =>
        agent(i + 1, {
          name: `group-${below(6)}`,
          load: below(4),
          capabilities: some(),
          trust: random(),
          ...(yes() ? {completionTrust: random()} : {}),
          recentValidationFailures: below(4),
        }),
      )
      const task = request({
        ownedFiles: new Map([[1 + below(12), 1 + below(3)]]),
        groupVotes: new Map([[`group-${below(6)}`, 1 + below(3)]]),
        requirements: some(),
        description: yes() ? 'train' : 'fix',
        phaseLabel: ['single_shot', 'shard_validate', 'reduce'][below(3)] as string,
      })
      const policy = {
        ...defaults,
        attentionEnabled: yes(),
        socratesReputationRouting: yes(),
        meshTrainingRoutingExperimental: yes(),
      }
      const choice = chooseAgent(task, agents, policy, {remote: [], random: neverRandom})
      if (choice.kind === 'spawn') continue
      const totals = agents.map((each) => scoreAgent(task, each, policy, []).total)
      assert.equal(choice.score.total, Math.max(...totals))
      const equals = agents.filter((_, i) => totals[i] === choice.score.total)
      assert.equal(choice.agent.load, Math.min(...equals.map(({load}) => load)))
    }
  })
})

describe('a mesh node', () => {
  const now = 1_000_000
  it('becomes stale after the threshold, and never with a threshold of 0', () => {
    const seen = (ago: number, threshold: number) =>
      remoteHint({id: 'n', last_seen_unix_ms: now - ago}, threshold, now).heartbeatStale
    assert.deepEqual([seen(60_000, 60_000), seen(60_001, 60_000), seen(900_000, 0)], [false, true, false])
  })

  const schedulable: [row: Partial<NodeRow>, is: boolean][] = [
    [{}, true],
    [{quarantined: true}, false],
    [{maintenance: true}, false],
    [{maintenance: true, maintenance_until_unix_ms: now + 1}, false],
    [{maintenance: true, maintenance_until_unix_ms: now}, true],
    [{maintenance: false, maintenance_until_unix_ms: now + 1}, true],
    [{last_seen_unix_ms: now - 60_001}, false],
  ]
  for (const [row, is] of schedulable)
    it(`${is ? 'can' : 'cannot'} receive work as ${JSON.stringify(row)}`, () => {
      assert.equal(isSchedulable(node(row)), is)
    })

  const cuda = {capabilities: {gpu_cuda: true}}
  const eligible: [row: Partial<NodeRow>, is: boolean][] = [
    [cuda, true],
    [{capabilities: {gpu_metal: true}}, true],
    [{capabilities: {gpu_vulkan: true}}, false],
    [{}, false],
    [{...cuda, gpu_readiness_ok: false}, false],
    [{...cuda, gpu_readiness_ok: true, gpu_healthy_count: 2, gpu_allocatable_count: 1}, true],
    [{...cuda, gpu_healthy_count: 0}, false],
    [{...cuda, gpu_allocatable_count: 0}, false],
  ]
  for (const [row, is] of eligible)
    it(`has ${is ? 'a' : 'no'} available GPU as ${JSON.stringify(row)}`, () =>
      assert.equal(isGpuEligible(node(row)), is))

  it('reports its training labels', () => {
    const {trainingLabels} = node({capabilities: {labels: ['pool=a', 'region=eu', 'workload=train']}})
    assert.deepEqual(trainingLabels, ['pool=a', 'workload=train'])
  })

  it('reports its known GPU state', () => {
    const counts = {gpu_total_count: 4, gpu_healthy_count: 3, gpu_allocatable_count: 2, gpu_readiness_ok: true}
    const known = {gpuTotalCount: 4, gpuHealthyCount: 3, gpuAllocatableCount: 2, gpuReadinessOk: true}
    assert.deepEqual(node(counts), {...node(), ...known})
    for (const name of Object.keys(known)) assert.ok(!(name in node()))
  })
})

describe('the placement of a task', () => {
  const base: PlacementFacts = {gated: false, localVram: [], relay: 'not_tried'}
  const large = node({capabilities: {min_vram_mb: 24_576}})
  const small = node({capabilities: {min_vram_mb: 8192}})
  const rows: [what: string, facts: Partial<PlacementFacts>, reason: (typeof placementReasons)[number]][] = [
    ['needs nothing', {}, 'local_queue_default'],
    ['needs no GPU memory', {minVramMb: 0}, 'local_queue_default'],
    ['fits a local agent', {minVramMb: 8192, localVram: [undefined, 8192]}, 'local_queue_default'],
    ['fits a known node', {minVramMb: 8192, localVram: [4096], remoteNodes: [small]}, 'local_queue_default'],
    [
      'fits no machine',
      {minVramMb: 16_384, localVram: [undefined, 8192], remoteNodes: [small]},
      'local_queue_fallback_insufficient_vram',
    ],
    [
      'fits no machine, and no node is known',
      {minVramMb: 1, localVram: [undefined]},
      'local_queue_fallback_insufficient_vram',
    ],
    ['is held for a node', {gated: true, relay: 'accepted'}, 'populi_remote_lease_hold'],
    [
      'is held for a node with any amount of memory',
      {gated: true, relay: 'accepted', minVramMb: 99_999, remoteNodes: []},
      'populi_remote_lease_hold',
    ],
    [
      'could not be delegated',
      {gated: true, relay: 'failed', minVramMb: 1, remoteNodes: []},
      'local_queue_fallback_after_remote_relay_error',
    ],
    [
      'fits a local agent but no node',
      {gated: true, minVramMb: 16_384, localVram: [99_999], remoteNodes: [small]},
      'local_queue_fallback_insufficient_vram',
    ],
    ['fits a node', {gated: true, minVramMb: 16_384, remoteNodes: [small, large]}, 'local_queue_default'],
    [
      'fits no node with known memory',
      {gated: true, minVramMb: 1, remoteNodes: [node()]},
      'local_queue_fallback_insufficient_vram',
    ],
    ['has no node list', {gated: true, minVramMb: 16_384}, 'local_queue_default'],
    [
      'fits a node in maintenance',
      {gated: true, minVramMb: 1, remoteNodes: [{...large, maintenance: true}]},
      'local_queue_fallback_insufficient_vram',
    ],
    [
      'fits a node in quarantine',
      {gated: true, minVramMb: 1, remoteNodes: [{...large, quarantined: true}]},
      'local_queue_fallback_insufficient_vram',
    ],
    [
      'fits a node with a stale heartbeat',
      {gated: true, minVramMb: 1, remoteNodes: [{...large, heartbeatStale: true}]},
      'local_queue_default',
    ],
  ]
  for (const [what, facts, reason] of rows)
    it(`that ${what} is ${reason}`, () => {
      const owner = reason === 'populi_remote_lease_hold' ? 'remote' : 'local'
      assert.deepEqual(decidePlacement({...base, ...facts}), {reason, owner})
    })

  it('covers every code', () => {
    assert.deepEqual(new Set(rows.map(([, , reason]) => reason)), new Set(placementReasons))
  })
})
