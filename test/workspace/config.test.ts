import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {
  orchestratorDelegationSettings,
  orchestratorSettings,
  orchestratorTables,
  readConfigFile,
  settingTables,
} from '../../src/config/index.js'
import {isErrorOf} from '../../src/errors/index.js'
import {type OrchestratorConfig, resolveOrchestratorConfig} from '../../src/workspace/config.js'
import {confidencePolicy} from '../../src/workspace/policy.js'
import {executionRoles, priorities, processorNames} from '../../src/workspace/vocabulary.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

/** The configuration of a workspace with this file and this environment. */
async function configure(test: TestContext, toml: string, env: Record<string, string> = {}) {
  const folder = await temporaryFolder(test)
  await writeFiles(folder, {'Svc.toml': toml})
  return resolveOrchestratorConfig({env, file: await readConfigFile(join(folder, 'Svc.toml'))})
}

const faultsOf = async (test: TestContext, toml: string, env?: Record<string, string>) => {
  try {
    await configure(test, toml, env)
    return []
  } catch (error) {
    assert.ok(isErrorOf(error, 'orchestrator_config_invalid'))
    assert.equal(error.exit, 2)
    for (const fault of error.params.faults) assert.ok(error.message.includes(fault))
    return error.params.faults
  }
}

describe('the configuration of a workspace without settings', () => {
  const {config, warnings} = resolveOrchestratorConfig({env: {}})

  it('has a value for every required setting', () => {
    assert.deepEqual(warnings, [])
    const unset = Object.entries(config).filter(([, value]) => value === undefined)
    assert.deepEqual(unset.map(([name]) => name).sort(), [
      'controlUrl',
      'deviceClass',
      'eventLog',
      'inferenceBaseUrl',
      'meshRemoteExecuteReceiverAgent',
      'meshRemoteExecuteSenderAgent',
      'planningWorkflowFile',
      'scopeId',
      'token',
    ])
  })

  it('has every value of its tables under the right name', () => {
    const nested = orchestratorTables.filter(
      ({name}) => name.includes('.') && !name.endsWith('.orchestration_migration'),
    )
    const flat = orchestratorTables.filter((table) => !nested.includes(table)).flatMap(({rows}) => Object.keys(rows))
    assert.equal(new Set(flat).size, flat.length)
    const members = [
      'attentionTlxWeights',
      'compaction',
      'tierGate',
      'defaultAgentCapabilities',
      'exec',
      'harness',
      'interruptionCalibration',
      'memory',
      'session',
      'socratesPolicy',
      'testDecisionPolicy',
    ]
    const ofTheMesh = ['meshNode', 'meshSecrets']
    assert.deepEqual(Object.keys(config).sort(), [...flat, ...members, ...ofTheMesh].sort())
    assert.equal(nested.length, members.length)
  })

  it('omits unset thresholds and capabilities', () => {
    assert.deepEqual(config.socratesPolicy, {})
    assert.deepEqual(config.defaultAgentCapabilities, {
      gpu_cuda: false,
      gpu_metal: false,
      gpu_vulkan: false,
      gpu_webgpu: false,
      npu: false,
      visual_eligible: false,
      multi_modal: false,
      prefer_gpu_compute: false,
      labels: [],
    })
  })

  it('runs no programs', () => {
    assert.deepEqual(config.exec, {
      enabled: false,
      timeoutMs: 60_000,
      maxOutputBytes: 262_144,
      secrets: [],
      user: undefined,
      templates: {},
    })
  })
})

describe('the configuration of a workspace', () => {
  it('comes from the file, overridden by the environment', async (t) => {
    const {config, warnings} = await configure(
      t,
      `
        [orchestrator]
        max_agents = 4
        cost_preference = "economy"
        model_prices = { small = 0.001 }
        [orchestrator.exec]
        enabled = true
        templates = { test = ["npm", "test"] }
        [orchestrator.orchestration_migration]
        orchestration_v2_enabled = true
        [orchestrator.interruption_calibration]
        trust_adjustment_scale = 0.5
        [orchestrator.attention_tlx_weights]
        mental = 0.4
        [mesh]
        control_url = "http://control:1"
        [[affinity_groups]]
        name = "docs"
        patterns = "docs/**"
      `,
      {SVC_ORCHESTRATOR_MAX_AGENTS: '6', SVC_ORCHESTRATOR_ENABLED: '1', SVC_ORCHESTRATOR_SCALING_PROFILE: 'AGGRESSIVE'},
    )
    const expected: Partial<OrchestratorConfig> = {
      enabled: true,
      maxAgents: 6,
      scalingProfile: 'aggressive',
      costPreference: 'economy',
      modelPrices: {small: 0.001},
      orchestrationV2Enabled: true,
      legacyOrchestrationFallback: true,
      controlUrl: 'http://control:1',
      affinityGroups: [{name: 'docs', patterns: ['docs/**']}],
      exec: {
        enabled: true,
        timeoutMs: 60_000,
        maxOutputBytes: 262_144,
        secrets: [],
        user: undefined,
        templates: {test: ['npm', 'test']},
      },
      attentionTlxWeights: {mental: 0.4, temporal: 0.25, frustration: 0.2, trustDiscount: 0.2},
      interruptionCalibration: {
        planReviewGainOffsetBits: 0,
        taskSubmitGainOffsetBits: 0,
        a2aEscalationGainOffsetBits: 0,
        inlineAssistGainOffsetBits: 0,
        backlogCostPenaltyPerItem: 0.05,
        trustAdjustmentScale: 0.5,
      },
    }
    const found = Object.fromEntries(Object.keys(expected).map((name) => [name, config[name as keyof typeof config]]))
    assert.deepEqual(found, expected)
    assert.deepEqual(
      warnings.map(({subject}) => subject),
      ['SVC_ORCHESTRATOR_ENABLED'],
    )
  })

  it('rejects a value of a wrong type', async (t) => {
    await assert.rejects(configure(t, '[orchestrator]\nmax_agents = "4"'), {code: 'config_type', exit: 2})
  })

  it('keeps the thresholds that are set', async (t) => {
    const {config} = await configure(t, '[orchestrator.socrates_policy]\nask_for_help_threshold = 0.6')
    assert.deepEqual(config.socratesPolicy, {askForHelpThreshold: 0.6})
    assert.equal(confidencePolicy(config.socratesPolicy).abstainThreshold, 0.35)
  })
})

describe('the capabilities that agents have by default', () => {
  const toml = `
    [orchestrator.default_agent_capabilities]
    labels = ["pool=dev", "region=eu"]
    min_vram_mb = 8192
    device_class = "server"
    npu = true
  `

  it('come from the file, followed by the labels of the mesh', async (t) => {
    const {config} = await configure(t, `${toml}\n[mesh]\nlabels = ["region=eu", "rack=7"]`)
    assert.deepEqual(config.defaultAgentCapabilities, {
      gpu_cuda: false,
      gpu_metal: false,
      gpu_vulkan: false,
      gpu_webgpu: false,
      npu: true,
      visual_eligible: false,
      multi_modal: false,
      prefer_gpu_compute: false,
      device_class: 'server',
      min_vram_mb: 8192,
      labels: ['pool=dev', 'region=eu', 'rack=7'],
    })
  })

  for (const [cause, file, env, cuda] of [
    ['[mesh] advertises a GPU', '[mesh]\nadvertise_gpu = true', {}, true],
    ['the environment advertises one', '', {SVC_MESH_ADVERTISE_GPU: '1'}, true],
    ['[orchestrator] sets it', '[orchestrator.default_agent_capabilities]\ngpu_cuda = true', {}, true],
    [
      '[orchestrator] sets it and [mesh] does not',
      '[orchestrator.default_agent_capabilities]\ngpu_cuda = true\n[mesh]\nadvertise_gpu = false',
      {},
      true,
    ],
    ['nothing sets it', '[mesh]\nlabels = ["a"]', {SVC_MESH_ADVERTISE_GPU: 'no'}, false],
  ] as const)
    it(`have ${cuda ? 'a' : 'no'} CUDA device when ${cause}`, async (t) => {
      const {config} = await configure(t, file, env)
      assert.equal(config.defaultAgentCapabilities.gpu_cuda, cuda)
    })
})

describe('settings that contradict each other', () => {
  const agents = 'orchestrator.min_agents (9) is larger than orchestrator.max_agents (8)'
  const thresholds = (low: number, high: number) =>
    `orchestrator.socrates_policy.abstain_threshold (${low}) is larger than ` +
    `orchestrator.socrates_policy.ask_for_help_threshold (${high})`
  const replanning = 'orchestrator.planning_replan_enabled requires orchestrator.planning_enabled'
  const cases: [toml: string, env: Record<string, string>, faults: string[]][] = [
    ['[orchestrator]\nmin_agents = 8', {}, []],
    ['[orchestrator]\nmin_agents = 9', {}, [agents]],
    ['', {SVC_ORCHESTRATOR_MIN_AGENTS: '9'}, [agents]],
    ['[orchestrator]\nmin_agents = 9', {SVC_ORCHESTRATOR_MAX_AGENTS: '9'}, []],
    ['[orchestrator.socrates_policy]\nabstain_threshold = 0.55', {}, []],
    ['[orchestrator.socrates_policy]\nabstain_threshold = 0.56', {}, [thresholds(0.56, 0.55)]],
    ['[orchestrator.socrates_policy]\nask_for_help_threshold = 0.35', {}, []],
    ['[orchestrator.socrates_policy]\nask_for_help_threshold = 0.34', {}, [thresholds(0.35, 0.34)]],
    ['[orchestrator.socrates_policy]\nabstain_threshold = 0.7\nask_for_help_threshold = 0.8', {}, []],
    ['[orchestrator]\nplanning_replan_enabled = true', {}, []],
    ['[orchestrator]\nplanning_enabled = false', {}, []],
    ['[orchestrator]\nplanning_enabled = false\nplanning_replan_enabled = true', {}, [replanning]],
    [
      '[orchestrator]\nplanning_enabled = false\nplanning_router_enabled = true\nplanning_workflow_handoff_enabled = true',
      {},
      [
        'orchestrator.planning_router_enabled requires orchestrator.planning_enabled',
        'orchestrator.planning_workflow_handoff_enabled requires orchestrator.planning_enabled',
      ],
    ],
    [
      '[orchestrator]\nbehavioral_gate_on_complete = true',
      {},
      [
        'orchestrator.behavioral_gate_on_complete requires orchestrator.exec.enabled',
        'orchestrator.behavioral_gate_on_complete requires orchestrator.behavioral_gate_command',
      ],
    ],
    [
      '[orchestrator]\nbehavioral_gate_on_complete = true\nbehavioral_gate_command = ["test", "tset"]\n' +
        'exec = {enabled = true, templates = {test = ["true"]}}',
      {},
      ['orchestrator.behavioral_gate_command requires orchestrator.exec.templates.tset'],
    ],
    ['[orchestrator]\nbehavioral_gate_command = ["test"]', {}, []],
    [
      `[orchestrator]
min_agents = 9
planning_enabled = false
planning_replan_enabled = true
[orchestrator.socrates_policy]
abstain_threshold = 0.9`,
      {},
      [agents, thresholds(0.9, 0.55), replanning],
    ],
  ]
  for (const [toml, env, faults] of cases)
    it(`${faults.length === 0 ? 'are not' : `(${faults.length}) are`} in ${JSON.stringify({toml, ...env})}`, async (t) => {
      assert.deepEqual(await faultsOf(t, toml, env), faults)
    })
})

describe('the tables of the orchestrator', () => {
  it('are listed in this order by svc config show', () => {
    assert.deepEqual(
      settingTables.filter((table) => orchestratorTables.includes(table)),
      orchestratorTables,
    )
  })

  it('accept the enumerations of the wire format', () => {
    const {defaultPriority, defaultProcessor} = orchestratorSettings.rows
    assert.deepEqual(defaultPriority.type.options, priorities)
    assert.deepEqual(defaultProcessor.type.options, processorNames)
    const roles = orchestratorDelegationSettings.rows.meshRemoteLeaseGatedRoles.type
    assert.deepEqual(roles.parse(executionRoles.join()), executionRoles)
    assert.equal(roles.expected, `a list of ${executionRoles.join(', ')}`)
  })
})
