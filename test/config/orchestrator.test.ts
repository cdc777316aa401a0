import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {inspect} from 'node:util'
import {
  type ConfigFile,
  describeSettings,
  meshSettings,
  readConfigFile,
  resolveSettings,
  settingTables,
  unknownKeys,
} from '../../src/config/index.js'
import {isErrorOf} from '../../src/errors/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

type Reading = readonly [words: string, value: unknown]

interface Variable {
  setting: string
  default: unknown
  /** Value of its key in the file, if it has one; differs from the default and from the values in `reads`. */
  file?: unknown
  /** Key in the file, if it is not the name of the setting. */
  key?: string
  reads: readonly Reading[]
  refuses?: readonly string[]
  /** An empty variable unsets the value of the file. */
  clears?: true
}

const maxMs = 2_147_483_647
const maxSecs = 2_147_483

/** A whole number with bounds: values on both sides of each bound, and values that are not whole numbers. */
const whole = (setting: string, fallback: number, min: number, max?: number): Variable => ({
  setting: `orchestrator.${setting}`,
  default: fallback,
  file: fallback + 1,
  reads: [[`${min}`, min], [`+${min}`, min], ...(max === undefined ? [] : [[`${max}`, max] as const])],
  refuses: [`${min - 1}`, ...(max === undefined ? [] : [`${max + 1}`]), `${fallback}.0`, '1e3', 'many', '0x10'],
})

const fraction = (setting: string, fallback: number, file: number, min: number, max?: number): Variable => ({
  setting: `orchestrator.${setting}`,
  default: fallback,
  file,
  reads: [[`${min}`, min], ['1e-1', 0.1], ...(max === undefined ? [] : [[`${max}`, max] as const])],
  refuses: [`${min - 0.01}`, ...(max === undefined ? [] : [`${max + 0.01}`]), 'NaN', 'Infinity', 'high'],
})

/** A boolean of type `strict`. */
const strict = (setting: string, fallback: boolean): Variable => ({
  setting: `orchestrator.${setting}`,
  default: fallback,
  file: !fallback,
  reads: [
    ['true', true],
    [' false ', false],
  ],
  refuses: ['1', '0', 'yes', 'TRUE', 'False', 'on'],
})

/** A boolean of type `flag`. */
const flag = (setting: string, file?: boolean): Variable => ({
  setting,
  default: false,
  ...(file === undefined ? {} : {file}),
  reads: [
    ['1', true],
    ['TRUE', true],
    ['0', false],
    ['No', false],
    ['false', false],
  ],
  refuses: ['yes', 'on', 'banana'],
})

const word = (setting: string, fallback: string, file: string, reads: readonly Reading[]): Variable => ({
  setting: `orchestrator.${setting}`,
  default: fallback,
  file,
  reads,
  refuses: ['fastest', '1'],
})

const address = (setting: string): Variable => ({
  setting,
  default: undefined,
  file: 'http://file:1',
  reads: [
    ['http://there:2/', 'http://there:2'],
    ['there:2', 'http://there:2'],
  ],
  refuses: ['ftp://there', 'http://ann:pw1@there'],
  clears: true,
})

const anyText = (setting: string): Variable => ({setting, default: undefined, reads: [[' as it is ', 'as it is']]})

const agent = (setting: string): Variable => ({
  setting: `orchestrator.${setting}`,
  default: undefined,
  file: '7',
  reads: [
    ['2', '2'],
    ['18446744073709551615', '18446744073709551615'],
  ],
  refuses: ['-1', 'agent-2', '2.0', '+2'],
  clears: true,
})

/** Every variable of the orchestrator, its mesh and its store: setting, accepted and rejected values. */
const variables: Record<string, Variable> = {
  SVC_ORCHESTRATOR_ENABLED: strict('enabled', true),
  SVC_ORCHESTRATOR_MAX_AGENTS: whole('max_agents', 8, 1, 256),
  SVC_ORCHESTRATOR_LOCK_TIMEOUT_MS: whole('lock_timeout_ms', 30_000, 100, maxMs),
  SVC_ORCHESTRATOR_TOESTUB_GATE: strict('toestub_gate', true),
  SVC_ORCHESTRATOR_MAX_DEBUG_ITERATIONS: whole('max_debug_iterations', 3, 0, 255),
  SVC_ORCHESTRATOR_MAX_TOESTUB_DEBUG_ITERATIONS: whole('max_toestub_debug_iterations', 3, 0, 255),
  SVC_ORCHESTRATOR_MAX_SOCRATES_DEBUG_ITERATIONS: whole('max_socrates_debug_iterations', 3, 0, 255),
  SVC_SUBMIT_TASK_BYPASS_QUESTIONING_GATE: flag('orchestrator.submit_task_bypass_questioning_gate', true),
  SVC_ORCHESTRATOR_HARNESS_COMPLETION_GUARD: word('harness_completion_guard', 'off', 'shadow', [
    ['off', 'off'],
    ['WARN', 'warn'],
    ['enforce', 'enforce'],
    [' strict ', 'strict'],
  ]),
  SVC_ORCHESTRATOR_COMPLETION_MARKDOWN_LINK_AUDIT_ENABLED: strict('completion_markdown_link_audit_enabled', true),
  SVC_ORCHESTRATOR_COMPLETION_GROUNDING_SHADOW: strict('completion_grounding_shadow', false),
  SVC_ORCHESTRATOR_COMPLETION_GROUNDING_ENFORCE: strict('completion_grounding_enforce', false),
  SVC_ORCHESTRATOR_CONTEXT_LIFECYCLE_SHADOW: strict('context_lifecycle_shadow', false),
  SVC_ORCHESTRATOR_CONTEXT_LIFECYCLE_ENFORCE: strict('context_lifecycle_enforce', false),
  SVC_ORCHESTRATOR_SOCRATES_GATE_SHADOW: strict('socrates_gate_shadow', false),
  SVC_ORCHESTRATOR_SOCRATES_GATE_ENFORCE: strict('socrates_gate_enforce', false),
  SVC_ORCHESTRATOR_SOCRATES_REPUTATION_ROUTING: strict('socrates_reputation_routing', false),
  SVC_ORCHESTRATOR_SOCRATES_REPUTATION_WEIGHT: fraction('socrates_reputation_weight', 1, 2.5, 0, 100),
  SVC_ORCHESTRATOR_TRUST_GATE_RELAX_ENABLED: strict('trust_gate_relax_enabled', false),
  SVC_ORCHESTRATOR_TRUST_GATE_RELAX_MIN_RELIABILITY: fraction('trust_gate_relax_min_reliability', 0.85, 0.7, 0, 1),
  SVC_ORCHESTRATOR_ATTENTION_ENABLED: strict('attention_enabled', false),
  SVC_ORCHESTRATOR_ATTENTION_BUDGET_MS: whole('attention_budget_ms', 3_600_000, 0, maxMs),
  SVC_ORCHESTRATOR_ATTENTION_ALERT_THRESHOLD: {
    setting: 'orchestrator.attention_alert_threshold',
    default: 0.7,
    file: 0.6,
    reads: [
      ['0.5', 0.5],
      ['0.05', 0.05],
      ['0.04', 0.05],
      ['-3', 0.05],
      ['0.99', 0.99],
      ['1', 0.99],
    ],
    refuses: ['NaN', 'Infinity', 'high'],
  },
  SVC_ORCHESTRATOR_ATTENTION_INTERRUPT_COST_MS: {
    setting: 'orchestrator.attention_interrupt_cost_ms',
    default: 23_250,
    file: 5000,
    reads: [
      ['1', 1],
      ['0', 1],
      ['100000', 100_000],
    ],
    refuses: ['-1', '8.0', 'many'],
  },
  SVC_ORCHESTRATOR_ATTENTION_TRUST_ROUTING_WEIGHT: fraction('attention_trust_routing_weight', 2, 3, 0, 100),
  SVC_ORCHESTRATOR_TIER_GATE_ENTROPY_THRESHOLD: fraction('tier_gate.entropy_auto_approve_threshold', 0.15, 0.5, 0, 1),
  SVC_ORCHESTRATOR_TIER_GATE_MIN_OBSERVATIONS: whole('tier_gate.auto_approve_min_observations', 10, 0),
  SVC_ORCHESTRATOR_TLX_MENTAL: fraction('attention_tlx_weights.mental', 0.35, 0.5, 0, 1),
  SVC_ORCHESTRATOR_TLX_TEMPORAL: fraction('attention_tlx_weights.temporal', 0.25, 0.5, 0, 1),
  SVC_ORCHESTRATOR_TLX_FRUSTRATION: fraction('attention_tlx_weights.frustration', 0.2, 0.5, 0, 1),
  SVC_ORCHESTRATOR_TLX_TRUST_DISCOUNT: fraction('attention_tlx_weights.trust_discount', 0.2, 0.5, 0, 1),
  SVC_ORCHESTRATOR_INTERRUPTION_CAL_PLAN_GAIN: fraction(
    'interruption_calibration.plan_review_gain_offset_bits',
    0,
    0.02,
    -1.5,
    1.5,
  ),
  SVC_ORCHESTRATOR_INTERRUPTION_CAL_A2A_GAIN: fraction(
    'interruption_calibration.a2a_escalation_gain_offset_bits',
    0,
    -0.01,
    -1.5,
    1.5,
  ),
  SVC_ORCHESTRATOR_INTERRUPTION_CAL_BACKLOG_PENALTY: fraction(
    'interruption_calibration.backlog_cost_penalty_per_item',
    0.05,
    0.5,
    0,
  ),
  SVC_ORCHESTRATOR_LOG_LEVEL: {
    setting: 'orchestrator.log_level',
    default: 'info',
    file: 'debug',
    reads: [
      ['TRACE', 'TRACE'],
      ['whatever it is', 'whatever it is'],
    ],
  },
  SVC_ORCHESTRATOR_FALLBACK_SINGLE: strict('fallback_to_single_agent', true),
  SVC_ORCHESTRATOR_MIN_AGENTS: whole('min_agents', 1, 0, 256),
  SVC_ORCHESTRATOR_SCALING_THRESHOLD: whole('scaling_threshold', 5, 1),
  SVC_ORCHESTRATOR_IDLE_RETIREMENT_MS: whole('idle_retirement_ms', 300_000, 0, maxMs),
  SVC_ORCHESTRATOR_SCALING_ENABLED: strict('scaling_enabled', false),
  SVC_ORCHESTRATOR_COST_PREFERENCE: word('cost_preference', 'performance', 'economy', [
    ['performance', 'performance'],
    ['PERFORMANCE', 'performance'],
    ['Economy', 'economy'],
  ]),
  SVC_ORCHESTRATOR_SCALING_LOOKBACK: whole('scaling_lookback_ticks', 5, 1, 10_000),
  SVC_ORCHESTRATOR_RESOURCE_WEIGHT: fraction('resource_weight', 0.3, 0.4, 0, 1),
  SVC_ORCHESTRATOR_RESOURCE_CPU_MULT: fraction('resource_cpu_multiplier', 0.7, 0.4, 0),
  SVC_ORCHESTRATOR_RESOURCE_MEM_MULT: fraction('resource_mem_multiplier', 0.3, 0.4, 0),
  SVC_ORCHESTRATOR_RESOURCE_EXPONENT: {
    setting: 'orchestrator.resource_exponent',
    default: 1,
    file: 2,
    reads: [
      ['0.001', 0.001],
      ['3', 3],
    ],
    refuses: ['0', '-1', 'NaN', 'Infinity'],
  },
  SVC_ORCHESTRATOR_SCALING_PROFILE: word('scaling_profile', 'balanced', 'conservative', [
    ['AGGRESSIVE', 'aggressive'],
    ['balanced', 'balanced'],
  ]),
  SVC_ORCHESTRATOR_MAX_SPAWN_PER_TICK: whole('max_spawn_per_tick', 5, 1, 256),
  SVC_ORCHESTRATOR_SCALING_COOLDOWN_MS: whole('scaling_cooldown_ms', 5000, 0, maxMs),
  SVC_ORCHESTRATOR_URGENT_REBALANCE_THRESHOLD: whole('urgent_rebalance_threshold', 3, 0),
  SVC_ORCHESTRATOR_MIGRATION_V2_ENABLED: strict('orchestration_migration.orchestration_v2_enabled', false),
  SVC_ORCHESTRATOR_MIGRATION_LEGACY_FALLBACK: strict('orchestration_migration.legacy_orchestration_fallback', true),
  SVC_ORCHESTRATOR_MESH_CONTROL_URL: {...address('mesh.control_url'), key: 'orchestrator.mesh_control_url'},
  SVC_MESH_CONTROL_ADDR: {
    setting: 'mesh.control_url',
    default: undefined,
    file: 'http://file:1',
    reads: [['there:2', 'http://there:2']],
    refuses: ['ftp://there'],
  },
  SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL: {
    ...address('mesh.inference_base_url'),
    key: 'orchestrator.mesh_inference_base_url',
  },
  SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_EXPERIMENTAL: strict('mesh_remote_execute_experimental', false),
  SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_RECEIVER_AGENT: agent('mesh_remote_execute_receiver_agent'),
  SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_SENDER_AGENT: agent('mesh_remote_execute_sender_agent'),
  SVC_ORCHESTRATOR_MESH_REMOTE_LEASE_GATING_ENABLED: strict('mesh_remote_lease_gating_enabled', false),
  SVC_ORCHESTRATOR_MESH_REMOTE_LEASE_GATED_ROLES: {
    setting: 'orchestrator.mesh_remote_lease_gated_roles',
    default: [],
    file: ['planner'],
    reads: [
      [' Builder, VERIFIER ', ['builder', 'verifier']],
      ['builder,BUILDER,,builder', ['builder']],
      [
        'researcher,reproducer,verifier,builder,planner',
        ['researcher', 'reproducer', 'verifier', 'builder', 'planner'],
      ],
      [',', []],
    ],
  },
  SVC_ORCHESTRATOR_MESH_REMOTE_RESULT_POLL_INTERVAL_SECS: whole('mesh_remote_result_poll_interval_secs', 5, 0, maxSecs),
  SVC_ORCHESTRATOR_MESH_REMOTE_WORKER_POLL_INTERVAL_SECS: whole('mesh_remote_worker_poll_interval_secs', 5, 0, maxSecs),
  SVC_ORCHESTRATOR_MESH_REMOTE_RESULT_MAX_MESSAGES_PER_POLL: {
    setting: 'orchestrator.mesh_remote_result_max_messages_per_poll',
    default: 64,
    file: 32,
    reads: [
      ['1', 1],
      ['0', 1],
      ['256', 256],
      ['257', 256],
    ],
    refuses: ['-1', '8.0', 'many'],
  },
  SVC_ORCHESTRATOR_MESH_EXEC_LEASE_RECONCILE: flag('orchestrator.mesh_exec_lease_reconcile', true),
  SVC_ORCHESTRATOR_MESH_EXEC_LEASE_AUTO_REVOKE: flag('orchestrator.mesh_exec_lease_auto_revoke', true),
  SVC_ORCHESTRATOR_MESH_POLL_INTERVAL_SECS: whole('mesh_poll_interval_secs', 30, 0, maxSecs),
  SVC_ORCHESTRATOR_MESH_HTTP_TIMEOUT_MS: {
    setting: 'orchestrator.mesh_http_timeout_ms',
    default: 10_000,
    file: 20_000,
    reads: [
      ['500', 500],
      ['499', 500],
      ['600000', 600_000],
      ['600001', 600_000],
    ],
    refuses: ['-1', '8.0', 'many'],
  },
  SVC_ORCHESTRATOR_MESH_ROUTING_EXPERIMENTAL: strict('mesh_routing_experimental', false),
  SVC_ORCHESTRATOR_MESH_REBALANCE_ON_REMOTE_SCHEDULABLE_DROP: strict(
    'mesh_rebalance_on_remote_schedulable_drop',
    false,
  ),
  SVC_ORCHESTRATOR_MESH_REPLAY_QUEUED_ROUTES_ON_REMOTE_SCHEDULABLE_DROP: strict(
    'mesh_replay_queued_routes_on_remote_schedulable_drop',
    false,
  ),
  SVC_ORCHESTRATOR_TRUST_EWMA_ALPHA: {
    setting: 'orchestrator.trust_ewma_alpha',
    default: 0.1,
    file: 0.3,
    reads: [
      ['0.5', 0.5],
      ['0.01', 0.01],
      ['0', 0.01],
      ['1', 1],
      ['1.5', 1],
    ],
    refuses: ['NaN', 'Infinity', 'slow'],
  },
  SVC_ORCHESTRATOR_EVENT_LOG: {...anyText('orchestrator.event_log'), file: '/work/events.jsonl'},
  SVC_ORCH_LINEAGE_OFF: flag('orchestrator.lineage_off', true),
  SVC_UNIFIED_ROUTING: flag('orchestrator.unified_routing', true),

  SVC_MESH_SCOPE_ID: {...anyText('mesh.scope_id'), file: 'team', key: 'orchestrator.mesh_scope_id', clears: true},
  SVC_MESH_TOKEN: anyText('mesh.token'),
  SVC_MESH_ADVERTISE_GPU: flag('mesh.advertise_gpu', true),
  SVC_MESH_ADVERTISE_VULKAN: flag('mesh.advertise_vulkan'),
  SVC_MESH_ADVERTISE_WEBGPU: flag('mesh.advertise_webgpu'),
  SVC_MESH_ADVERTISE_NPU: flag('mesh.advertise_npu'),
  SVC_MESH_GPU_READINESS_PROBE_OFF: flag('mesh.gpu_probe_off'),
  SVC_MESH_MAX_STALE_MS: {
    setting: 'mesh.max_stale_ms',
    default: 0,
    reads: [
      ['0', 0],
      ['60000', 60_000],
    ],
    refuses: ['-1', '1.5', 'never'],
  },
  SVC_MESH_DEVICE_CLASS: anyText('mesh.device_class'),
  SVC_MESH_LABELS: {
    setting: 'mesh.host_labels',
    default: [],
    reads: [
      ['pool=a, region=eu,,pool=a', ['pool=a', 'region=eu']],
      [',', []],
    ],
  },

  SVC_REPOSITORY_ROOT: anyText('workspace.repository_root'),
  SVC_REPO_ROOT: anyText('workspace.repository_root'),
  SVC_DB_PATH: anyText('workspace.canonical_store'),
  SVC_DATA_DIR: anyText('workspace.data_dir'),
  SVC_WORKSPACE_JOURNEY_STORE: {
    setting: 'workspace.journey_store',
    default: 'project',
    reads: [
      ['canonical', 'canonical'],
      ['CANONICAL', 'canonical'],
      ['Project', 'project'],
      ['/tmp/Store.db', '/tmp/Store.db'],
      ['./store.db', './store.db'],
    ],
    refuses: ['none', 'store.db'],
  },
  SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL: {
    setting: 'workspace.journey_fallback_canonical',
    default: false,
    reads: [
      ['0', false],
      ['False', false],
      ['NO', false],
      ['off', false],
      ['1', true],
      ['on', true],
    ],
    refuses: ['2', 'never'],
  },
}

const tables = settingTables.filter((table) => /^(orchestrator|workspace)\b/.test(table.name) || table === meshSettings)

/** A file with one key. */
function fileWith(key: string, value: unknown): ConfigFile {
  const data = key.split('.').reduceRight<unknown>((inner, part) => ({[part]: inner}), value)
  return {path: '/work/Svc.toml', data: data as Record<string, unknown>, warnings: []}
}

/** One setting with its sources, and all warnings. */
function resolve(setting: string, env: Record<string, string>, file?: ConfigFile, userFile?: ConfigFile) {
  const resolutions = tables.map((table) => resolveSettings(table, {env, file, userFile}))
  const found = resolutions.flatMap(({settings}) => settings).find(({name}) => name === setting)
  assert.ok(found, setting)
  const {value, origin, overridden} = found
  return {value, origin, overridden, warnings: resolutions.flatMap(({warnings}) => warnings)}
}

describe('orchestrator variables', () => {
  for (const [variable, row] of Object.entries(variables)) {
    const {setting, default: fallback, file: fileValue, key = setting, reads, refuses = [], clears} = row
    const file = fileValue === undefined ? undefined : fileWith(key, fileValue)
    const without = fileValue ?? fallback

    it(`${variable} sets ${setting}; default ${inspect(fallback)}`, () => {
      assert.deepEqual(resolve(setting, {}), {
        value: fallback,
        origin: {source: 'default'},
        overridden: [],
        warnings: [],
      })
      for (const [words, value] of reads) {
        const found = resolve(setting, {[variable]: words})
        assert.deepEqual(found.value, value, `"${words}"`)
        assert.deepEqual(found.origin, {source: 'env', name: variable})
        assert.deepEqual(found.warnings, [])
      }
    })

    it(`${variable} ${clears ? 'unsets' : 'does not change'} ${setting} if it is empty`, () => {
      for (const words of ['', '  ']) {
        const {value, warnings} = resolve(setting, {[variable]: words}, file)
        assert.deepEqual(value, clears ? undefined : without)
        assert.deepEqual(warnings, [])
      }
    })

    if (refuses.length > 0)
      it(`${variable} is ignored with a warning if it is ${refuses.join(' or ')}`, () => {
        for (const words of refuses) {
          const {value, warnings} = resolve(setting, {[variable]: words}, file)
          assert.deepEqual(value, without, `"${words}"`)
          assert.deepEqual(
            warnings.map(({code, subject}) => [code, subject]),
            [['config_env_invalid', variable]],
          )
        }
      })

    if (file !== undefined) {
      it(`${key} sets it in the file, and ${variable} overrides it`, () => {
        assert.notDeepEqual(fileValue, fallback)
        const found = resolve(setting, {}, file)
        assert.deepEqual(found.value, fileValue)
        assert.deepEqual(found.origin, {source: 'file', name: key})
        for (const [words, value] of reads) {
          const both = resolve(setting, {[variable]: words}, file)
          assert.deepEqual(both.value, value, `"${words}"`)
          assert.deepEqual(both.overridden, [{source: 'file', name: key, value: fileValue}])
        }
      })

      it(`${key} rejects a table even if ${variable} is set`, () => {
        const wrong = fileWith(key, {x: 1})
        assert.throws(
          () => resolve(setting, {[variable]: reads[0]?.[0] ?? ''}, wrong),
          (error) => isErrorOf(error, 'config_type') && error.exit === 2 && error.params.key === key,
        )
      })
    }
  }

  it('are all tested here', () => {
    const declared = tables.flatMap((table) => Object.values(table.rows).flatMap(({env = []}) => env))
    assert.deepEqual([...declared].sort(), Object.keys(variables).sort())
  })
})

describe('a list of roles in a variable', () => {
  const variable = 'SVC_ORCHESTRATOR_MESH_REMOTE_LEASE_GATED_ROLES'
  const roles = (words: string) =>
    resolve(
      'orchestrator.mesh_remote_lease_gated_roles',
      {[variable]: words},
      fileWith('orchestrator.mesh_remote_lease_gated_roles', ['planner']),
    )

  it('skips unknown words with one warning', () => {
    const {value, warnings} = roles(' Builder, ops ,VERIFIER, pilot')
    assert.deepEqual(value, ['builder', 'verifier'])
    assert.deepEqual(warnings, [
      {
        code: 'config_env_invalid',
        subject: variable,
        message:
          `${variable} must be a list of planner, builder, verifier, reproducer, researcher, not "ops", "pilot"; ` +
          'unknown words are ignored.',
      },
    ])
  })

  it('overrides the list in the file, even if no word is left', () => {
    const {value, warnings} = roles('ops')
    assert.deepEqual(value, [])
    assert.equal(warnings.length, 1)
  })
})

describe('settings of the file only', () => {
  const cases: [key: string, fallback: unknown, accepted: unknown[], rejected: unknown[]][] = [
    ['default_priority', 'normal', ['background', 'normal', 'urgent'], ['high', 1]],
    ['task_timeout_ms', 1_800_000, [1, maxMs], [0, maxMs + 1, 1.5]],
    ['stale_threshold_ms', 60_000, [0, maxMs], [-1, maxMs + 1]],
    ['agent_token_budget', 100_000, [0, 1_000_000], [-1, 1.5]],
    ['agent_daily_budget_micros', 0, [1, 1_000_000], [-1, 0.5]],
    ['execution_time_budget_multiplier', 1.5, [0.5, 10], [0, -1]],
    ['idle_timeout_ms', 600_000, [0, maxMs], [-1, maxMs + 1]],
    ['auto_continue_enabled', false, [true], ['true', 1]],
    ['continuation_cooldown_ms', 30_000, [0, maxMs], [-1, maxMs + 1]],
    ['max_auto_continuations', 5, [0, 1000], [-1, 1001]],
    ['heartbeat_interval_ms', 5000, [1, maxMs], [0, maxMs + 1]],
    ['session.sessions_dir', '.svc/sessions', ['/work/sessions'], [1]],
    ['session.max_sessions', 16, [1, 100_000], [0, 100_001]],
    ['session.idle_timeout_secs', 1800, [0, 315_360_000], [-1, 315_360_001]],
    ['session.archive_timeout_secs', 86_400, [0, 315_360_000], [-1, 315_360_001]],
    ['session.persist', true, [true, false], ['true']],
    ['session.repository_id', undefined, ['4be1c0d2a9f03377'], [1]],
    ['memory.enabled', true, [true, false], ['true', 1]],
    ['memory.account_id', 'global', ['anna'], [1]],
    ['memory.memory_md_path', undefined, ['/work/docs/MEMORY.md'], [1]],
    ['memory.log_dir', undefined, ['/work/logs'], [1]],
    ['memory.log_retention_days', 30, [1, 36_500], [0, 36_501]],
    ['compaction.max_context_tokens', 128_000, [1, 1_000_000], [0, 1.5]],
    ['compaction.reserved_tokens', 10_000, [0, 20_000], [-1, 1.5]],
    ['compaction.compaction_threshold', 0.8, [0, 1], [-0.01, 1.01]],
    ['compaction.min_viable_tokens', 2000, [0, 10_000], [-1, 1.5]],
    ['compaction.strategy', 'balanced', ['balanced', 'recent', 'full', 'off'], ['none', 1]],
    ['compaction.head_preserve_tokens', 2000, [0, 10_000], [-1, 1.5]],
    ['compaction.tail_preserve_tokens', 8000, [0, 10_000], [-1, 1.5]],
    ['planning_workflow_file', undefined, ['/work/flows.yaml'], [1]],
    ['max_task_retries', 0, [0, 20], [-1, 21]],
    ['max_queue_len', 0, [0, 1_000_000], [-1, 2.5]],
    ['queue_overflow_strategy', 'spawn_new_agent', ['block', 'drop_lowest', 'spawn_new_agent'], ['drop']],
    ['bulletin_capacity', 256, [1, 100_000], [0, 1.5, '1']],
    ['event_bus_capacity', 1024, [1, 100_000], [0, 1.5, '1']],
    ['scope_enforcement', 'warn', ['strict', 'warn', 'disabled'], ['off', true]],
    ['durability', 'normal', ['normal', 'full'], ['none']],
    ['event_retention_days', 90, [1, 36_500], [0, 36_501]],
    ['workflow_retention_days', 30, [1, 36_500], [0, 36_501]],
    ['workflow_output_max_bytes', 67_108_864, [0, 2 ** 40], [-1, 2 ** 40 + 1]],
    ['workflow_files', [], [['a.yaml', 'b.yaml'], []], [['a.yaml', 1], 'a.yaml']],
    ['default_processor', 'ai', ['ai', 'exec', 'external'], ['shell']],
    ['model_prices', {}, [{'gpt-oss': 0.002, 'llama3.2:1b': 0}], [[], 'x', {m: -1}, {m: 'x'}]],
    ['exec.enabled', false, [true], ['true', 1]],
    ['exec.timeout_ms', 60_000, [1, maxMs], [0, maxMs + 1]],
    ['exec.max_output_bytes', 262_144, [1, 2 ** 30], [0, 2 ** 30 + 1]],
    ['exec.secrets', [], [['DEPLOY_KEY'], []], [['A', 1], 'A']],
    [
      'exec.templates',
      {},
      [{test: ['npm', 'test', '--', '{path}', ''], 'a.b': ['true']}],
      [{test: []}, {test: 'npm test'}, {test: ['npm', 1]}, {test: [' ']}, {test: ['a\0b']}, ['npm']],
    ],
    ['behavioral_gate_on_complete', false, [true, false], ['true', 1]],
    ['behavioral_gate_command', [], [['test', 'lint'], []], [['test', 1], 'test']],
    ['planning_enabled', true, [true, false], ['true', 1]],
    ['planning_auto_mode_enabled', false, [true, false], ['true', 1]],
    ['planning_llm_synthesis_enabled', false, [true, false], ['true', 1]],
    ['planning_replan_enabled', false, [true, false], ['true', 1]],
    ['planning_router_enabled', false, [true, false], ['true', 1]],
    ['planning_rollout_percent', 0, [0, 100], [-1, 101, 0.5, '1']],
    ['planning_shadow_mode', false, [true, false], ['true', 1]],
    ['planning_workflow_handoff_enabled', false, [true, false], ['true', 1]],
    ['test_decision_policy.file_count_threshold', 4, [1, 100], [0, 1.5]],
    ['test_decision_policy.complexity_threshold', 7, [0, 7.5, 10], [-1, 10.5]],
    ['planning_depth', 'standard', ['minimal', 'standard', 'deep'], ['shallow', 1]],
    ['plan_adequacy_shadow', true, [true, false], ['true', 1]],
    ['plan_adequacy_enforce', false, [true, false], ['true', 1]],
    ['routing_exploration_epsilon', 0, [0, 1], [-0.01, 1.01]],
    ['trust_task_completion_floor', 0.25, [0, 1], [-0.01, 1.01]],
    ['trust_task_completion_weight', 1.5, [0, 100], [-0.01, 100.01]],
    ['trust_provisional_threshold', 5, [0, 100], [-1, 0.5]],
    ['trust_trusted_threshold', 20, [0, 100], [-1, 0.5]],
    ['financial_cost_budget_micros', 50_000, [0, 1_000_000], [-1, 0.5]],
    ['local_breakeven_tokens', 9_100_000, [0], [-1, 0.5]],
    ['repo_shard_specialization_weight', 1.5, [0, 9], [-0.01]],
    ['repo_shard_validation_failure_penalty', 0.8, [0, 9], [-0.01]],
    ['repo_reduce_conflict_cooldown_penalty', 2.5, [0, 9], [-0.01]],
    ['repo_reduce_conflict_cooldown_ms', 300_000, [0, maxMs], [-1, maxMs + 1]],
    ['mesh_training_routing_experimental', false, [true], [1]],
    ['mesh_training_budget_pressure', 0, [0, 1], ['high', Number.NaN]],
    ['mesh_remote_lease_timeout_ms', 300_000, [1, maxMs], [0, maxMs + 1]],
    ['mesh_remote_replace_lost_worker', false, [true], ['true', 1]],
    ['mesh_remote_reconcile', 'keep_original', ['keep_original', 'keep_replacement'], ['keep', true]],
    ['mesh_remote_lease_gated_roles', [], [['verifier', 'builder'], []], [['ops'], ['builder', 1], 'builder']],
    ['trust_auto_approve_min', 0.85, [0, 1], [-0.01, 1.01]],
    ['tier_gate.auto_approve_min_trust', 0.85, [0, 1], [-0.01, 1.01]],
    ['tier_gate.untrusted_max_writes_before_block', 3, [0, 100], [-1, 0.5]],
    ['tier_gate.trusted_single_file_confirm_limit', 1, [0, 100], [-1, 0.5]],
    ['interruption_calibration.task_submit_gain_offset_bits', 0, [-1.5, 1.5], [-1.51, 1.51]],
    ['interruption_calibration.inline_assist_gain_offset_bits', 0, [-1.5, 1.5], [-1.51, 1.51]],
    ['interruption_calibration.trust_adjustment_scale', 1, [0, 2], [-0.01]],
    ['socrates_policy.abstain_threshold', undefined, [0, 1], [-0.01, 1.01]],
    ['socrates_policy.ask_for_help_threshold', undefined, [0, 1], [-0.01, 1.01]],
    ['socrates_policy.max_contradiction_ratio_for_answer', undefined, [0, 1], [-0.01, 1.01]],
    ['socrates_policy.min_persist_confidence', undefined, [0, 1], [-0.01, 1.01]],
    ['socrates_policy.min_training_pair_confidence', undefined, [0, 1], [-0.01, 1.01]],
    ['socrates_policy.min_review_finding_confidence', undefined, [0, 100], [-1, 101]],
    ['socrates_policy.min_prompt_report_confidence', undefined, [0, 100], [-1, 101]],
    ['default_agent_capabilities.is_low_confidence_bypass_blocked', undefined, [true, false], ['true', 1]],
    ...['gpu_cuda', 'gpu_metal', 'gpu_vulkan', 'gpu_webgpu', 'npu', 'visual_eligible', 'multi_modal'].map(
      (name): [string, unknown, unknown[], unknown[]] => [
        `default_agent_capabilities.${name}`,
        false,
        [true, false],
        [1, 'true'],
      ],
    ),
    ['default_agent_capabilities.prefer_gpu_compute', false, [true], [1]],
    ['default_agent_capabilities.device_class', undefined, ['server', 'toaster'], [1]],
    ['default_agent_capabilities.min_vram_mb', undefined, [0, 24_576], [-1, 0.5]],
    ['default_agent_capabilities.min_cpu_cores', undefined, [0, 8], [-1, 0.5]],
    ['default_agent_capabilities.cpu_cores', undefined, [1, 128], [0, 0.5]],
    ['default_agent_capabilities.arch', undefined, ['aarch64'], [64]],
    ['default_agent_capabilities.hostname', undefined, ['box'], [1]],
    ['default_agent_capabilities.routing_tier', undefined, ['local'], [true]],
    ['default_agent_capabilities.labels', [], [['pool=dev'], []], ['pool=dev', [1]]],
  ]
  for (const [name, fallback, accepted, rejected] of cases)
    it(`orchestrator.${name} is ${inspect(fallback)} unless the file sets it`, () => {
      const key = `orchestrator.${name}`
      assert.deepEqual(resolve(key, {}).value, fallback)
      for (const value of accepted) assert.deepEqual(resolve(key, {}, fileWith(key, value)).value, value)
      for (const value of rejected)
        assert.throws(
          () => resolve(key, {}, fileWith(key, value)),
          (error) => isErrorOf(error, 'config_type') && error.exit === 2 && error.params.key.startsWith(key),
          inspect(value),
        )
    })

  const check = {command: ['sh', '-c', 'true'], files: ['/checks/a.sh'], workspace: '/work'}
  const ofTheUser: typeof cases = [
    ['exec.user', undefined, ['runner', '1001', 'svc-runner$'], ['-runner', 'a b', 1001]],
    [
      'harness.hidden_checks',
      undefined,
      [
        [],
        [check],
        [
          {...check, command: undefined},
          {...check, files: [], workspace: undefined},
        ],
      ],
      [
        check,
        [{workspace: '/work'}],
        [{...check, files: ['a.sh']}],
        [{...check, workspace: 'work'}],
        [{...check, command: []}],
        [{...check, command: 'true'}],
        [{...check, file: '/checks/a.sh'}],
      ],
    ],
  ]
  for (const [name, fallback, accepted, rejected] of ofTheUser)
    it(`orchestrator.${name} is ${inspect(fallback)} unless the file of the user sets it`, () => {
      const key = `orchestrator.${name}`
      assert.deepEqual(resolve(key, {}).value, fallback)
      for (const value of accepted) {
        const file = fileWith(key, value)
        assert.deepEqual(resolve(key, {}, undefined, file).value, value)
        assert.throws(() => resolve(key, {}, file), {code: 'config_user_only'})
      }
      for (const value of rejected)
        assert.throws(() => resolve(key, {}, undefined, fileWith(key, value)), {code: 'config_type'}, inspect(value))
    })

  it('and settings with variables are all tested here', () => {
    const names = tables.flatMap((table) => resolveSettings(table, {env: {}}).settings.map(({name}) => name))
    const tested = new Set([
      ...[...cases, ...ofTheUser].map(([name]) => `orchestrator.${name}`),
      ...Object.values(variables).map(({setting}) => setting),
      'orchestrator.affinity_groups',
      'mesh.labels',
    ])
    assert.deepEqual(
      names.filter((name) => !tested.has(name)),
      [],
    )
  })

  for (const [pressure, value] of [
    [1.5, 1],
    [-1, 0],
  ] as const)
    it(`a budget pressure of ${pressure} is clamped to ${value}`, () => {
      const key = 'orchestrator.mesh_training_budget_pressure'
      assert.equal(resolve(key, {}, fileWith(key, pressure)).value, value)
    })

  it('accept a number as the agent of another node', () => {
    const key = 'orchestrator.mesh_remote_execute_receiver_agent'
    assert.equal(resolve(key, {}, fileWith(key, 2)).value, '2')
    assert.throws(() => resolve(key, {}, fileWith(key, -2)), {code: 'config_type'})
  })
})

/** Reads and checks a real file, as a command does. */
async function read(test: TestContext, toml: string) {
  const folder = await temporaryFolder(test)
  await writeFiles(folder, {'Svc.toml': toml})
  const file = await readConfigFile(join(folder, 'Svc.toml'))
  const unknown = unknownKeys(settingTables, file)
  const {settings, warnings} = describeSettings({env: {}, file})
  return {
    warnings: [...file.warnings, ...unknown, ...warnings],
    setting: (name: string) => settings.find((setting) => setting.name === name),
  }
}

describe('a Svc.toml with [orchestrator]', () => {
  it('can set everything at once', async (t) => {
    const {setting, warnings} = await read(
      t,
      `
        [orchestrator]
        max_agents = 4
        scaling_enabled = true
        scaling_profile = "Balanced"
        orchestration_migration = { orchestration_v2_enabled = true, legacy_orchestration_fallback = false }
        mesh_remote_lease_gated_roles = ["builder", "VERIFIER", "builder"]
        model_prices = { "llama3.2:1b" = 0.001 }

        [orchestrator.exec]
        enabled = true
        [orchestrator.exec.templates]
        test = ["npm", "test", "--", "{path}"]

        [orchestrator.interruption_calibration]
        plan_review_gain_offset_bits = 0.02
        inline_assist_gain_offset_bits = -0.01

        [orchestrator.socrates_policy]
        ask_for_help_threshold = 0.60

        [orchestrator.default_agent_capabilities]
        labels = ["pool=dev"]

        [[affinity_groups]]
        name = " docs "
        patterns = ["docs/**", "docs/**", "*.md"]

        [[affinity_groups]]
        name = "tests"
        patterns = "test/**"
      `,
    )
    assert.deepEqual(warnings, [])
    const values = Object.entries({
      'orchestrator.max_agents': 4,
      'orchestrator.scaling_enabled': true,
      'orchestrator.scaling_profile': 'balanced',
      'orchestrator.orchestration_migration.orchestration_v2_enabled': true,
      'orchestrator.orchestration_migration.legacy_orchestration_fallback': false,
      'orchestrator.mesh_remote_lease_gated_roles': ['builder', 'verifier'],
      'orchestrator.model_prices': {'llama3.2:1b': 0.001},
      'orchestrator.exec.enabled': true,
      'orchestrator.exec.templates': {test: ['npm', 'test', '--', '{path}']},
      'orchestrator.interruption_calibration.plan_review_gain_offset_bits': 0.02,
      'orchestrator.interruption_calibration.inline_assist_gain_offset_bits': -0.01,
      'orchestrator.socrates_policy.ask_for_help_threshold': 0.6,
      'orchestrator.socrates_policy.abstain_threshold': null,
      'orchestrator.default_agent_capabilities.labels': ['pool=dev'],
      'orchestrator.affinity_groups': [
        {name: 'docs', patterns: ['docs/**', '*.md']},
        {name: 'tests', patterns: ['test/**']},
      ],
    })
    for (const [name, value] of values) assert.deepEqual(setting(name)?.value, value, name)
  })

  const nested = 'orchestrator.orchestration_migration.orchestration_v2_enabled'
  for (const [form, toml] of [
    ['an inline table', '[orchestrator]\norchestration_migration = { orchestration_v2_enabled = true }'],
    ['a table of its own', '[orchestrator.orchestration_migration]\norchestration_v2_enabled = true'],
    ['dotted keys', '[orchestrator]\norchestration_migration.orchestration_v2_enabled = true'],
  ] as const)
    it(`accepts orchestration_migration as ${form}`, async (t) => {
      const {setting, warnings} = await read(t, toml)
      assert.deepEqual(warnings, [])
      assert.equal(setting(nested)?.value, true)
      assert.deepEqual(setting(nested)?.origin, {source: 'file', name: nested})
    })

  it('is overridden by [mesh] and by its legacy name', async (t) => {
    for (const table of ['mesh', 'mens']) {
      const {setting} = await read(
        t,
        `
          [orchestrator]
          mesh_control_url = "http://orchestrator:1"
          mesh_scope_id = "orchestrator"
          mesh_inference_base_url = "http://orchestrator:2"
          [${table}]
          control_url = "http://mesh:1"
          scope_id = "mesh"
          inference_base_url = "http://mesh:2"
        `,
      )
      for (const [name, value] of [
        ['mesh.control_url', 'http://mesh:1'],
        ['mesh.scope_id', 'mesh'],
        ['mesh.inference_base_url', 'http://mesh:2'],
      ] as const) {
        assert.equal(setting(name)?.value, value)
        assert.equal(setting(name)?.overridden.length, 1)
      }
    }
  })

  const unknown: [toml: string, subject: string, meant: string | undefined][] = [
    ['[orchestrator]\nmax_agent = 4', 'orchestrator.max_agent', 'orchestrator.max_agents'],
    ['[orchestrator]\nscaling-profile = "x"', 'orchestrator.scaling-profile', 'orchestrator.scaling_profile'],
    ['[orchestrator.exec]\ntemplate = 1', 'orchestrator.exec.template', 'orchestrator.exec.templates'],
    [
      '[orchestrator.socrates_policy]\nabstain_treshold = 1',
      'orchestrator.socrates_policy.abstain_treshold',
      'orchestrator.socrates_policy.abstain_threshold',
    ],
    ['[[affinity_group]]\nname = "a"', 'affinity_group', 'affinity_groups'],
    ['[orchestrator]\nan_unrelated_kitchen_sink = 1', 'orchestrator.an_unrelated_kitchen_sink', undefined],
  ]
  for (const [toml, subject, meant] of unknown)
    it(`warns about ${subject} and reads the rest`, async (t) => {
      const {warnings, setting} = await read(t, `${toml}\n[engine]\nthreads = 3`)
      assert.deepEqual(
        warnings.map(({code, subject}) => [code, subject]),
        [['config_key_unknown', subject]],
      )
      if (meant !== undefined) assert.match(warnings[0]?.message ?? '', new RegExp(` Did you mean ${meant}\\?$`))
      assert.equal(setting('engine.threads')?.value, 3)
    })

  const wrong: [toml: string, sentence: string][] = [
    ['[orchestrator]\nmax_agents = "8"', 'orchestrator.max_agents must be a whole number from 1 to 256, not "8".'],
    ['[orchestrator]\nmax_agents = 0', 'orchestrator.max_agents must be a whole number from 1 to 256, not 0.'],
    ['[orchestrator]\nresource_exponent = 0', 'orchestrator.resource_exponent must be a number above 0, not 0.'],
    [
      '[orchestrator]\nmesh_remote_lease_gated_roles = ["ops"]',
      'orchestrator.mesh_remote_lease_gated_roles must be a list of planner, builder, verifier, reproducer, researcher, ' +
        'not ["ops"].',
    ],
    [
      '[orchestrator.model_prices]\ngood = 0.1\nbad = "free"',
      'orchestrator.model_prices.bad must be a number of at least 0, not "free".',
    ],
    [
      '[orchestrator.exec.templates]\ntest = "npm test"',
      'orchestrator.exec.templates.test must be a list with a program and its arguments, not "npm test".',
    ],
    [
      '[orchestrator]\nmodel_prices = 5',
      'orchestrator.model_prices must be a table in which each value is a number of at least 0, not 5.',
    ],
    [
      '[[affinity_groups]]\nname = "docs"',
      'affinity_groups must be a list of tables, each with a name and patterns, not [{"name":"docs"}].',
    ],
    ['orchestrator = 5', 'orchestrator must be a table, not 5.'],
    [
      '[orchestrator]\norchestration_migration = true',
      'orchestrator.orchestration_migration must be a table, not true.',
    ],
  ]
  for (const [toml, sentence] of wrong)
    it(`is rejected: ${sentence}`, async (t) => {
      await assert.rejects(read(t, toml), (error: Error) => {
        assert.ok(isErrorOf(error, 'config_type'))
        assert.equal(error.exit, 2)
        assert.equal(error.message.slice(error.params.file.length), `: ${sentence}`)
        return true
      })
    })

  for (const group of [
    'name = ""\npatterns = "a"',
    'name = "a"\npatterns = ""',
    'name = "a"\npatterns = []',
    'name = "a"\npatterns = [1]',
    'name = 1\npatterns = "a"',
    'patterns = "a"',
    'name = "a"\npatterns = "a"\ndefault_agent = " "',
    'name = "a"\npatterns = "a"\ndefault_agent = 1',
  ])
    it(`rejects the group ${group.replace('\n', ', ')}`, async (t) => {
      const toml = `[[affinity_groups]]\nname = "good"\npatterns = "a"\n[[affinity_groups]]\n${group}`
      await assert.rejects(read(t, toml), (error) => isErrorOf(error, 'config_type'))
    })
})
