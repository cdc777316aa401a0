import assert from 'node:assert/strict'
import {existsSync, readFileSync} from 'node:fs'
import {join, relative} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {orchestratorTables, type SettingTable, workspaceSettings} from '../../src/config/index.js'
import type {
  ConfigShowV1,
  OrchAcceptedV1,
  OrchAgentsV1,
  OrchAgentV1,
  OrchClaimV1,
  OrchStatusV1,
  OrchTaskV1,
} from '../../src/contracts/index.js'
import type {SvcError} from '../../src/errors/index.js'
import {meshSnapshot} from '../../src/orchestrator/index.js'
import type {Plan, PlanStatus} from '../../src/plans/index.js'
import {openSessions} from '../../src/sessions/index.js'
import {submitTask} from '../../src/tasks/index.js'
import {controlPlane} from '../orchestrator/support/control-plane.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {type Orch, type OrchOptions, orchUnder} from '../support/orch.js'
import {until} from '../support/orch-workspace.js'
import {answerLines, scriptedInference} from '../support/scripted-inference.js'
import {writeFiles} from '../support/temporary.js'

/** A setting, and what a user sees under each of some values. */
interface Effect extends OrchOptions {
  /** A variable of the environment, or a key of the file. */
  setting: string
  decides: string
  /** By value: for a variable its text, for a key what TOML has behind the equals sign. */
  outcomes: Readonly<Record<string, unknown>>
  /** @param env the environment with the value of the variable */
  see(orch: Orch, test: TestContext, env: Readonly<Record<string, string>>): Promise<unknown>
}

const isVariable = ({setting}: Effect) => setting.startsWith('SVC_')

/** One test per setting: every value in a workspace of its own. */
function decide(effects: readonly Effect[]): void {
  for (const effect of effects)
    it(`${effect.setting} decides ${effect.decides}`, async (test) => {
      const {setting, outcomes, env, toml = '', see} = effect
      assert.ok(new Set(Object.values(outcomes).map((outcome) => JSON.stringify(outcome))).size > 1)
      for (const [value, outcome] of Object.entries(outcomes)) {
        const options = isVariable(effect)
          ? {env: {...env, [setting]: value}, toml}
          : {...(env === undefined ? {} : {env}), toml: `${setting} = ${value}\n${toml}`}
        const seen = await see(await orchUnder(test, options), test, options.env ?? {})
        assert.deepEqual(seen, outcome, `${setting} = ${value}`)
      }
    })
}

/** Neither the store of a workspace nor that of the user can be opened. */
const withoutStores = {
  SVC_ORCHESTRATOR_MIGRATION_V2_ENABLED: 'true',
  SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL: 'true',
  SVC_DB_PATH: '/dev/null/svc.db',
}

/** Submits a task: how it stands, or the code of the refusal. */
async function submit(orch: Orch, ...args: string[]) {
  const {status, error} = await orch.ask<OrchAcceptedV1>('submit', 'work', ...args)
  return error?.code ?? status
}

/** Submits a task: the name of the agent that it goes to. */
const agentFor = async (orch: Orch, ...args: string[]) =>
  (await orch.ask<OrchAcceptedV1>('submit', 'work', ...args)).agent_name

const external = ['--processor', 'external'] as const

const namesOf = async (orch: Orch) => (await orch.ask<OrchAgentsV1>('agents')).agents?.map(({name}) => name)

/** A server that has two models and does whatever it is asked for. */
const inference = (test: TestContext) =>
  scriptedInference(test, (response) => response.end(answerLines('Done.')), ['large', 'small'])

const templates = `
orchestrator.exec.templates = {nap = ["sleep", "1"], break = ["false"], say = ["echo", "a long word"]}
`
const programs = `orchestrator.exec.enabled = true${templates}`

const intake: readonly Effect[] = [
  {
    setting: 'SVC_ORCHESTRATOR_ENABLED',
    decides: 'whether tasks are taken',
    outcomes: {true: 'Queued', false: 'orchestrator_disabled'},
    see: (orch) => submit(orch),
  },
  {
    setting: 'SVC_ORCHESTRATOR_LOCK_TIMEOUT_MS',
    decides: 'how long a file stays with the agent whose task waits for it',
    outcomes: {100: 'Queued', 600000: 'lock_conflict'},
    async see(orch) {
      await submit(orch, '-f', 'a.ts', '--agent', 'one', ...external)
      await sleep(150)
      return submit(orch, '-f', 'a.ts', '--agent', 'two', ...external)
    },
  },
  {
    setting: 'SVC_ORCHESTRATOR_MIGRATION_V2_ENABLED',
    decides: 'whether clients are told to speak the contract v2',
    outcomes: {true: 'v2', false: undefined},
    see: async (orch) => (await orch.ask<OrchAcceptedV1>('submit', 'work')).orchestration_contract,
  },
  {
    setting: 'SVC_ORCHESTRATOR_MIGRATION_LEGACY_FALLBACK',
    decides: 'whether tasks are taken where the store of v2 cannot be opened',
    env: withoutStores,
    outcomes: {true: ['Queued', undefined], false: [undefined, undefined, 'orchestration_store_missing']},
    async see(orch) {
      await writeFiles(orch.cwd, {'.svc': 'no folder'})
      const {status, orchestration_contract, error} = await orch.ask<OrchAcceptedV1>('submit', 'work')
      return [status, orchestration_contract, ...(error === undefined ? [] : [error.code])]
    },
  },
  {
    setting: 'SVC_WORKSPACE_JOURNEY_STORE',
    decides: 'where tasks are kept',
    outcomes: {project: ['.svc/store.db', true, false], canonical: ['data/svc.db', false, true]},
    async see(orch) {
      await submit(orch)
      const {store = ''} = await orch.ask<OrchStatusV1>('status')
      const files = ['.svc/store.db', 'data/svc.db'].map((path) => existsSync(join(orch.cwd, path)))
      return [relative(orch.cwd, store), ...files]
    },
  },
  {
    setting: 'SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL',
    decides: 'whether the store of the user takes the tasks that the workspace cannot keep',
    outcomes: {true: ['Queued', true], false: ['store_unopenable', false]},
    async see(orch) {
      await writeFiles(orch.cwd, {'.svc': 'no folder'})
      return [await submit(orch), existsSync(join(orch.cwd, 'data/svc.db'))]
    },
  },
  {
    setting: 'SVC_ORCH_LINEAGE_OFF',
    decides: 'whether the lineage of tasks is kept',
    outcomes: {0: ['task_submitted'], 1: []},
    async see(orch) {
      await submit(orch)
      const rows = await orch.rows<{kind: string}>('SELECT kind FROM orchestration_lineage_events')
      return rows.map(({kind}) => kind)
    },
  },
  {
    setting: 'orchestrator.max_queue_len',
    decides: 'how many tasks may wait',
    toml: 'orchestrator.queue_overflow_strategy = "block"\n',
    outcomes: {0: ['Queued', 'Queued'], 1: ['Queued', 'queue_full']},
    see: async (orch) => [await submit(orch), await submit(orch)],
  },
  {
    setting: 'orchestrator.queue_overflow_strategy',
    decides: 'what becomes of a task that comes to a full queue',
    toml: 'orchestrator.max_queue_len = 1\n',
    outcomes: {
      '"block"': ['queue_full', 'Queued'],
      '"drop_lowest"': ['core', 'Cancelled'],
      '"spawn_new_agent"': ['overflow', 'Queued'],
    },
    async see(orch) {
      await submit(orch, '-p', 'background')
      const {agent_name: agent, error} = await orch.ask<OrchAcceptedV1>('submit', 'work')
      return [error?.code ?? agent?.replace(/-.*/, ''), (await orch.ask<OrchTaskV1>('task', '1')).status]
    },
  },
  {
    setting: 'orchestrator.default_priority',
    decides: 'the priority of a task that names none',
    outcomes: {'"background"': 'background', '"urgent"': 'urgent'},
    async see(orch) {
      await submit(orch)
      return (await orch.ask<OrchTaskV1>('task', '1')).priority
    },
  },
  {
    setting: 'orchestrator.default_processor',
    decides: 'whether a client may claim a task that names no processor',
    outcomes: {'"external"': 'T-0001', '"ai"': 'no_task_to_claim'},
    async see(orch) {
      await submit(orch)
      const {task, error} = await orch.ask<OrchClaimV1>('claim')
      return error?.code ?? task?.display_id
    },
  },
  {
    setting: 'orchestrator.durability',
    decides: 'how safely tasks are kept, and takes no third word',
    outcomes: {'"normal"': ['Queued', 1], '"full"': ['Queued', 1], '"none"': ['config_type', undefined]},
    see: async (orch) => [await submit(orch), (await orch.ask<OrchStatusV1>('status')).total_queued],
  },
  {
    setting: 'orchestrator.heartbeat_interval_ms',
    decides: 'when the claim of a client that is silent ends',
    outcomes: {1: 'T-0001', 600000: 'no_task_to_claim'},
    async see(orch) {
      await submit(orch, ...external)
      await orch.ask('claim', '--as', 'silent')
      await sleep(30)
      const {task, error} = await orch.ask<OrchClaimV1>('claim', '--as', 'other')
      return error?.code ?? task?.display_id
    },
  },
  {
    setting: 'orchestrator.exec.enabled',
    decides: 'whether tasks may run programs',
    toml: templates,
    outcomes: {true: 'Queued', false: 'exec_disabled'},
    see: (orch) => submit(orch, '--exec', 'say'),
  },
]

/** Whatever is set, an agent is added and tells what it has. */
const capability = (name: string) => async (orch: Orch) => {
  const {capabilities} = await orch.ask<OrchAgentV1>('agent', 'spawn', 'builder')
  return (capabilities as Record<string, unknown> | undefined)?.[name]
}

const advertised = (device: string, flag: string): Effect => ({
  setting: `SVC_MESH_ADVERTISE_${device}`,
  decides: `whether agents have ${flag}`,
  outcomes: {0: false, 1: true},
  see: capability(flag),
})

const agents: readonly Effect[] = [
  {
    setting: 'SVC_ORCHESTRATOR_MAX_AGENTS',
    decides: 'how many agents there may be',
    outcomes: {1: 'max_agents_reached', 2: 'active'},
    async see(orch) {
      await orch.ask('agent', 'spawn', 'one')
      const {state, error} = await orch.ask<OrchAgentV1>('agent', 'spawn', 'two')
      return error?.code ?? state
    },
  },
  {
    setting: 'SVC_ORCHESTRATOR_MIN_AGENTS',
    decides: 'how many agents there are from the first task on',
    outcomes: {1: ['core'], 3: ['core', 'core-2', 'core-3']},
    async see(orch) {
      await submit(orch)
      return namesOf(orch)
    },
  },
  advertised('GPU', 'gpu_cuda'),
  advertised('VULKAN', 'gpu_vulkan'),
  advertised('WEBGPU', 'gpu_webgpu'),
  advertised('NPU', 'npu'),
  {
    setting: 'SVC_MESH_DEVICE_CLASS',
    decides: 'the kind of machine that agents are on',
    outcomes: {server: 'server', mobile: 'mobile'},
    see: capability('device_class'),
  },
  {
    setting: 'SVC_MESH_LABELS',
    decides: 'the labels of every agent on this machine',
    outcomes: {'pool=a': ['pool=a'], 'pool=b,x': ['pool=b', 'x']},
    see: capability('labels'),
  },
  {
    setting: 'orchestrator.default_agent_capabilities.labels',
    decides: 'the labels of every agent',
    outcomes: {'["pool=dev"]': ['pool=dev'], '[]': []},
    see: capability('labels'),
  },
  {
    setting: 'orchestrator.default_agent_capabilities.gpu_cuda',
    decides: 'whether agents have a GPU that nobody advertises',
    outcomes: {true: true, false: false},
    see: capability('gpu_cuda'),
  },
]

const reputation = {SVC_ORCHESTRATOR_SOCRATES_REPUTATION_ROUTING: 'true'}
/** The lower id wins between equals, so what is measured favours the second one. */
const unequal = {bad: ['failed'], good: ['completed']} as const

const strict = 'orchestrator.scope_enforcement = "strict"\n'

/** The files outside of its scope that the agent builder was told of, and how a task on one of them was taken. */
async function leaveScope(orch: Orch) {
  await writeFiles(orch.cwd, {'.svc/agents/builder.md': '---\nscope: [src/**]\n---\nBuilds.\n'})
  // Reliability 6/7: five of five, with one of each added beforehand.
  await orch.past({builder: Array(5).fill('completed')})
  const status = await submit(orch, '-f', 'docs/a.md', '--agent', 'builder')
  return [status, ...(await orch.events('scope_violation')).map(({path}) => path)]
}

const routing: readonly Effect[] = [
  {
    setting: 'SVC_ORCHESTRATOR_FALLBACK_SINGLE',
    decides: 'whether a task that suits nobody in particular gets an agent of its own',
    outcomes: {true: 'core', false: 'general'},
    see: (orch) => agentFor(orch),
  },
  {
    setting: 'SVC_ORCHESTRATOR_SOCRATES_REPUTATION_ROUTING',
    decides: 'whether a task goes to the agent that did well',
    outcomes: {true: 'good', false: 'bad'},
    async see(orch) {
      await orch.past(unequal)
      return agentFor(orch)
    },
  },
  {
    setting: 'SVC_ORCHESTRATOR_SOCRATES_REPUTATION_WEIGHT',
    decides: 'whether a longer record counts, where nobody ever failed',
    env: reputation,
    outcomes: {0: 'young', 100: 'proven'},
    async see(orch) {
      await orch.past({young: ['completed'], proven: Array(5).fill('completed')})
      return agentFor(orch)
    },
  },
  {
    setting: 'SVC_ORCHESTRATOR_TRUST_EWMA_ALPHA',
    decides: 'how much one failure takes of the trust in an agent',
    env: {...reputation, SVC_ORCHESTRATOR_SOCRATES_REPUTATION_WEIGHT: '0'},
    outcomes: {'0.01': 'steady', 1: 'other'},
    async see(orch) {
      await orch.past({other: [], steady: ['completed']})
      await submit(orch, '--agent', 'steady', ...external)
      const {task} = await orch.ask<OrchClaimV1>('claim')
      await orch.ask('fail', String(task?.id), '--claim', '1', '-r', 'broken')
      return agentFor(orch)
    },
  },
  {
    setting: 'SVC_ORCHESTRATOR_ATTENTION_ENABLED',
    decides: 'whether a task goes to the agent that is trusted',
    outcomes: {true: 'good', false: 'bad'},
    async see(orch) {
      await orch.past(unequal)
      return agentFor(orch)
    },
  },
  {
    setting: 'SVC_ORCHESTRATOR_ATTENTION_TRUST_ROUTING_WEIGHT',
    decides: 'whether trust outweighs being there first',
    env: {SVC_ORCHESTRATOR_ATTENTION_ENABLED: 'true'},
    outcomes: {0: 'bad', 2: 'good'},
    async see(orch) {
      await orch.past(unequal)
      return agentFor(orch)
    },
  },
  {
    setting: 'SVC_ORCHESTRATOR_TRUST_GATE_RELAX_ENABLED',
    decides: 'whether a reliable agent may leave its scope',
    toml: strict,
    outcomes: {true: ['Queued', 'docs/a.md'], false: ['scope_denied']},
    see: leaveScope,
  },
  {
    setting: 'SVC_ORCHESTRATOR_TRUST_GATE_RELAX_MIN_RELIABILITY',
    decides: 'how reliable that agent has to be',
    toml: strict,
    env: {SVC_ORCHESTRATOR_TRUST_GATE_RELAX_ENABLED: 'true'},
    outcomes: {'0.5': ['Queued', 'docs/a.md'], '0.99': ['scope_denied']},
    see: leaveScope,
  },
  {
    setting: 'orchestrator.scope_enforcement',
    decides: 'what becomes of a task outside of the scope of its agent',
    outcomes: {'"strict"': ['scope_denied'], '"warn"': ['Queued', 'docs/a.md'], '"disabled"': ['Queued']},
    see: leaveScope,
  },
  {
    setting: 'affinity_groups',
    decides: 'whether a group of files has an agent',
    outcomes: {'[{name = "docs", patterns = ["docs/**"]}]': 'docs', '[]': 'core'},
    see: (orch) => agentFor(orch, '-f', 'docs/a.md'),
  },
]

/** The machine is left out of account: a load is the sum of its tasks, each of them 1. */
const scaled = {SVC_ORCHESTRATOR_SCALING_ENABLED: 'true', SVC_ORCHESTRATOR_RESOURCE_WEIGHT: '0'}

/** Agents after one look at a load. */
const agentsUnder = (load: number) => async (orch: Orch) => {
  await orch.load(load)
  await orch.tick()
  return (await orch.ask<OrchStatusV1>('status')).agent_count
}

/** Only the last look counts, and only what is named of the machine. */
const machine = (env: Readonly<Record<string, string>>) => ({
  SVC_ORCHESTRATOR_SCALING_LOOKBACK: '1',
  SVC_ORCHESTRATOR_RESOURCE_WEIGHT: '1',
  SVC_ORCHESTRATOR_RESOURCE_CPU_MULT: '0',
  SVC_ORCHESTRATOR_RESOURCE_MEM_MULT: '0',
  ...env,
})

/** How many times its tasks the load is taken for: 1 where the machine does not count. */
async function shareOfMachine(orch: Orch): Promise<number> {
  await orch.load(10)
  await orch.tick()
  const {predicted_load = 0, total_weighted_load = 0} = await orch.ask<OrchStatusV1>('status')
  return predicted_load / total_weighted_load
}

const scaling: readonly Effect[] = [
  {
    setting: 'SVC_ORCHESTRATOR_SCALING_ENABLED',
    decides: 'whether load starts agents',
    env: {SVC_ORCHESTRATOR_RESOURCE_WEIGHT: '0'},
    outcomes: {true: 3, false: 1},
    see: agentsUnder(10),
  },
  {
    setting: 'SVC_ORCHESTRATOR_SCALING_THRESHOLD',
    decides: 'the load that starts another agent',
    env: scaled,
    outcomes: {5: 3, 50: 1},
    see: agentsUnder(10),
  },
  {
    setting: 'SVC_ORCHESTRATOR_SCALING_PROFILE',
    decides: 'how soon that is',
    env: scaled,
    outcomes: {conservative: 2, balanced: 3, aggressive: 4},
    see: agentsUnder(12),
  },
  {
    setting: 'SVC_ORCHESTRATOR_MAX_SPAWN_PER_TICK',
    decides: 'how many agents start at once',
    env: scaled,
    outcomes: {1: 2, 5: 3},
    see: agentsUnder(12),
  },
  {
    setting: 'SVC_ORCHESTRATOR_SCALING_COOLDOWN_MS',
    decides: 'whether the next look may start more',
    env: {...scaled, SVC_ORCHESTRATOR_MAX_SPAWN_PER_TICK: '1'},
    outcomes: {0: 'more', 60000: 'no more'},
    async see(orch) {
      const first = await agentsUnder(24)(orch)
      const second = await agentsUnder(1)(orch)
      return Number(second) > Number(first) ? 'more' : 'no more'
    },
  },
  {
    setting: 'SVC_ORCHESTRATOR_SCALING_LOOKBACK',
    decides: 'whether a load that rises is taken to rise on',
    env: {SVC_ORCHESTRATOR_RESOURCE_WEIGHT: '0'},
    outcomes: {1: 'stays', 5: 'rises'},
    async see(orch) {
      await orch.load(1)
      await orch.tick()
      return (await shareOfMachine(orch)) > 1 ? 'rises' : 'stays'
    },
  },
  {
    setting: 'SVC_ORCHESTRATOR_IDLE_RETIREMENT_MS',
    decides: 'when an agent that has nothing to do goes',
    env: scaled,
    outcomes: {0: ['core'], 600000: ['core', 'helper']},
    async see(orch) {
      await submit(orch, '--agent', 'helper', ...external)
      await orch.ask('cancel', '1')
      await orch.tick()
      return namesOf(orch)
    },
  },
  {
    setting: 'SVC_ORCHESTRATOR_URGENT_REBALANCE_THRESHOLD',
    decides: 'how many urgent tasks wait for one agent while another is free',
    outcomes: {0: {free: 0, busy: 4}, 2: {free: 2, busy: 2}},
    async see(orch) {
      await orch.ask('agent', 'spawn', 'free')
      await orch.load(4, {priority: 'urgent', target_agent: 'busy'})
      await orch.tick()
      const {agents: shown = []} = await orch.ask<OrchStatusV1>('status')
      return Object.fromEntries(shown.map(({name, queued_urgent}) => [name, queued_urgent]))
    },
  },
  {
    setting: 'SVC_ORCHESTRATOR_RESOURCE_WEIGHT',
    decides: 'whether a busy machine makes a load heavier',
    env: machine({SVC_ORCHESTRATOR_RESOURCE_MEM_MULT: '1'}),
    outcomes: {0: false, 1: true},
    see: async (orch) => (await shareOfMachine(orch)) > 1,
  },
  {
    setting: 'SVC_ORCHESTRATOR_RESOURCE_MEM_MULT',
    decides: 'how far memory in use counts in that',
    env: machine({}),
    outcomes: {0: false, 1: true},
    see: async (orch) => (await shareOfMachine(orch)) > 1,
  },
  {
    setting: 'SVC_ORCHESTRATOR_RESOURCE_EXPONENT',
    decides: 'how much more a very busy machine counts than a busy one',
    // Memory in use is at most 1, so that it counts for 1000 at most, and for far more as its cube.
    env: machine({SVC_ORCHESTRATOR_RESOURCE_MEM_MULT: '1000'}),
    outcomes: {1: 'at most as much', 3: 'more'},
    see: async (orch) => ((await shareOfMachine(orch)) <= 1001 ? 'at most as much' : 'more'),
  },
  {
    setting: 'SVC_ORCHESTRATOR_RESOURCE_CPU_MULT',
    decides: 'how far processors in use count in that',
    env: machine({SVC_ORCHESTRATOR_SCALING_LOOKBACK: '2'}),
    outcomes: {0: false, 100000: true},
    async see(orch) {
      await orch.load(10)
      const {stop} = await orch.daemon()
      // What processors do is known from the second look on. This keeps one busy for a part of the time meanwhile.
      const busy = setInterval(() => {
        const end = performance.now() + 20
        while (performance.now() < end);
      }, 100)
      try {
        let looks: readonly number[] = []
        await until(async () => {
          const [row] = await orch.rows<{value: string}>("SELECT value FROM orch_state WHERE key = 'load_history'")
          looks = row === undefined ? [] : JSON.parse(row.value)
          return looks.length === 2
        }, 'a second look')
        const counts = async () => ((await orch.ask<OrchStatusV1>('status')).predicted_load ?? 0) > 10
        const [first = 0, second = 0] = looks
        if (second > first) await until(counts, 'the load that is expected')
        return second > first || (await counts())
      } finally {
        clearInterval(busy)
        await stop()
      }
    },
  },
]

/** Has a daemon ask a model to do a task: what was asked, and what the store has of the choice. */
async function askModel(orch: Orch, test: TestContext, ...args: string[]) {
  const {baseUrl, calls} = await inference(test)
  await submit(orch, ...args)
  const {told, stop} = await orch.daemon({SVC_INFERENCE_URL: baseUrl})
  await told('task_completed')
  await stop()
  const rows = await orch.rows<{model_id: string; reason_json: string}>(
    'SELECT model_id, reason_json FROM routing_decisions',
  )
  const decisions = rows.map(({model_id, reason_json}) => ({
    model_id,
    reason: JSON.parse(reason_json) as {cost_preference: string; unified_routing_env?: boolean},
  }))
  return {calls, decisions}
}

/** Has a daemon run a program: why it failed, or that it did not. */
async function endOf(orch: Orch, template: string) {
  await submit(orch, '--exec', template)
  const {told, stop} = await orch.daemon()
  const end = await told('task_completed', 'task_failed')
  await stop()
  return end.type === 'task_failed' ? end.error : end.type
}

const running: readonly Effect[] = [
  {
    setting: 'SVC_ORCHESTRATOR_LOG_LEVEL',
    decides: 'what a daemon tells',
    toml: programs,
    outcomes: {
      error: ['T-0002 failed'],
      info: ['T-0001 completed', 'T-0001 started', 'T-0002 failed', 'T-0002 started'],
      debug: ['T-0001 completed', 'T-0001 goes on', 'T-0001 started', 'T-0002 failed', 'T-0002 started'],
    },
    async see(orch, test) {
      const {baseUrl} = await inference(test)
      await submit(orch)
      await submit(orch, '--exec', 'break')
      const {says, stderr, end} = orch.startInTurn(['daemon', 'run'], {SVC_INFERENCE_URL: baseUrl})
      await says(/T-0002 failed/)
      await end('SIGTERM')
      return [...new Set(stderr().match(/^T-\d+ (?:started|goes on|completed|failed)/gm))].sort()
    },
  },
  {
    setting: 'SVC_ORCHESTRATOR_COST_PREFERENCE',
    decides: 'whether the usual model or the cheapest one is asked',
    toml: 'orchestrator.model_prices = {large = 0.03, small = 0.001}\n',
    outcomes: {
      performance: {asked: ['large'], kept: ['large'], because: 'performance'},
      economy: {asked: ['small'], kept: ['small'], because: 'economy'},
    },
    async see(orch, test) {
      const {calls, decisions} = await askModel(orch, test)
      return {
        asked: [...new Set(calls.map(({model}) => model))],
        kept: decisions.map(({model_id}) => model_id),
        because: decisions[0]?.reason.cost_preference,
      }
    },
  },
  {
    setting: 'SVC_UNIFIED_ROUTING',
    decides: 'whether the reasons of routing are told and marked',
    outcomes: {0: {placed: undefined, marked: undefined}, 1: {placed: {missing_labels: -10000}, marked: true}},
    async see(orch, test) {
      const {decisions} = await askModel(orch, test, '--label', 'pool=dev')
      const [placed] = await orch.events('task_placed')
      return {placed: placed?.reason, marked: decisions[0]?.reason.unified_routing_env}
    },
  },
  {
    setting: 'SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL',
    decides: 'which server is asked where no other is named',
    outcomes: {'http://127.0.0.1:1': 'http://127.0.0.1:1/', 'http://127.0.0.1:2/v1': 'http://127.0.0.1:2/'},
    async see(orch) {
      await submit(orch)
      const {told, stop} = await orch.daemon()
      const {error} = await told('task_failed')
      await stop()
      return /http:\/\/[\d.:]+\//.exec(error)?.[0]
    },
  },
  {
    setting: 'SVC_ORCHESTRATOR_EVENT_LOG',
    decides: 'the file that a daemon appends events to',
    outcomes: {'events.jsonl': ['events.jsonl'], 'log/all.jsonl': ['log/all.jsonl']},
    async see(orch) {
      await orch.tick()
      return ['events.jsonl', 'log/all.jsonl'].filter((name) => {
        const path = join(orch.cwd, name)
        return existsSync(path) && /"daemon_stopped"/.test(readFileSync(path, 'utf8'))
      })
    },
  },
  {
    setting: 'orchestrator.task_timeout_ms',
    decides: 'how long a task may run',
    toml: programs,
    outcomes: {200: 'timeout', 600000: 'task_completed'},
    see: (orch) => endOf(orch, 'nap'),
  },
  {
    setting: 'orchestrator.exec.timeout_ms',
    decides: 'how long its program may run',
    toml: programs,
    outcomes: {
      200: 'The task failed: nap was stopped, since it ran longer than 200 ms.',
      600000: 'task_completed',
    },
    see: (orch) => endOf(orch, 'nap'),
  },
  {
    setting: 'orchestrator.exec.max_output_bytes',
    decides: 'how much of what a program writes is kept',
    toml: programs,
    outcomes: {6: ['a\n[6 bytes are missing here]\nword', true], 1000: ['a long word', false]},
    async see(orch) {
      await endOf(orch, 'say')
      const {result} = await orch.ask<OrchTaskV1>('task', '1')
      return [result?.text, result?.truncated]
    },
  },
  {
    setting: 'orchestrator.max_task_retries',
    decides: 'whether a task is tried again when its server is down',
    env: {SVC_INFERENCE_URL: 'http://127.0.0.1:1'},
    outcomes: {0: 'task_failed', 1: 'task_requeued'},
    async see(orch) {
      await submit(orch)
      const {told, stop} = await orch.daemon()
      const {type} = await told('task_failed', 'task_requeued')
      await stop()
      return type
    },
  },
  {
    setting: 'orchestrator.event_retention_days',
    decides: 'for how long events can be read',
    outcomes: {30: 0, 365: 1},
    async see(orch, test) {
      const clock = {ms: Date.now() - 100 * 86_400_000}
      submitTask(await openTestOrchestrator(test, {root: orch.cwd, clock}), {description: 'work'})
      await orch.tick()
      return (await orch.events('task_submitted')).length
    },
  },
]

/** Makes a plan: its verdict, or the code of the refusal. */
async function plan(orch: Orch, goal = 'Do it') {
  const {versions, error} = await orch.ask<Plan>('plan', 'new', goal, '--max-tasks', '1')
  return error?.code ?? versions?.[0].reviewer_verdict
}

/** Makes a plan and has it executed: how its first task is. */
async function firstStep(orch: Orch) {
  const {session_id: id = ''} = await orch.ask<Plan>('plan', 'new', 'Run the test suite')
  await orch.ask('plan', 'execute', id)
  return {id, task: await orch.ask<OrchTaskV1>('task', '1')}
}

const planning: readonly Effect[] = [
  {
    setting: 'orchestrator.planning_enabled',
    decides: 'whether plans are made',
    outcomes: {true: 'flagged', false: 'planning_disabled'},
    see: (orch) => plan(orch),
  },
  {
    setting: 'orchestrator.planning_auto_mode_enabled',
    decides: 'whether a person is asked about each step',
    outcomes: {true: 'Queued', false: 'BlockedOnApproval'},
    see: async (orch) => (await firstStep(orch)).task.status,
  },
  {
    setting: 'orchestrator.planning_llm_synthesis_enabled',
    decides: 'whether a model is asked for the steps',
    outcomes: {true: 1, false: 0},
    async see(orch, test) {
      const {baseUrl, calls} = await inference(test)
      const {exitCode} = await orch.run(['orch', 'plan', 'new', 'Run the test suite'], {SVC_INFERENCE_URL: baseUrl})
      assert.equal(exitCode, 0)
      return Math.min(1, calls.length)
    },
  },
  {
    setting: 'orchestrator.planning_replan_enabled',
    decides: 'whether a plan is made anew when a test fails',
    toml: 'orchestrator.planning_auto_mode_enabled = true\norchestrator.default_processor = "external"\n',
    outcomes: {true: ['active', 2], false: ['failed', 1]},
    async see(orch) {
      const {id} = await firstStep(orch)
      await orch.ask('claim')
      await orch.ask('fail', '1', '--claim', '1', '-r', '2 tests failed')
      const {status, latest_version: version} = await orch.ask<PlanStatus>('plan', 'status', id)
      return [status, version]
    },
  },
  {
    setting: 'orchestrator.planning_depth',
    decides: 'how much a model may say of the steps',
    toml: 'orchestrator.planning_llm_synthesis_enabled = true\n',
    outcomes: {'"minimal"': 3072, '"standard"': 4096, '"deep"': 8192},
    async see(orch, test) {
      const {baseUrl, calls} = await inference(test)
      await orch.run(['orch', 'plan', 'new', 'Run the test suite'], {SVC_INFERENCE_URL: baseUrl})
      return calls[0]?.options.num_predict
    },
  },
  {
    setting: 'orchestrator.plan_adequacy_shadow',
    decides: 'whether somebody looks for what is wrong with a plan',
    outcomes: {true: 'flagged', false: 'pending'},
    see: (orch) => plan(orch),
  },
  {
    setting: 'orchestrator.plan_adequacy_enforce',
    decides: 'whether a plan is kept with which something is wrong',
    outcomes: {true: 'plan_rejected', false: 'flagged'},
    see: (orch) => plan(orch),
  },
]

/** An hour ago a program that works with agents began a session: what sessions are there, once a daemon has looked. */
async function sessionAfterAnHour(orch: Orch, test: TestContext) {
  const clock = {ms: Date.now() - 3_600_000}
  openSessions(await openTestOrchestrator(test, {root: orch.cwd, clock})).create('builder')
  await orch.tick()
  return (await orch.rows<{status: string}>('SELECT status FROM agent_sessions')).map(({status}) => status)
}

/** No command begins a session: programs do that work with agents, through the library. */
const sessions: readonly Effect[] = [
  {
    setting: 'orchestrator.session.idle_timeout_secs',
    decides: 'when a quiet session is idle',
    outcomes: {0: ['active'], 60: ['idle']},
    see: sessionAfterAnHour,
  },
  {
    setting: 'orchestrator.session.archive_timeout_secs',
    decides: 'when it is archived',
    outcomes: {0: ['idle'], 60: ['archived']},
    see: sessionAfterAnHour,
  },
  {
    setting: 'orchestrator.session.persist',
    decides: 'whether it is kept',
    outcomes: {true: ['idle'], false: []},
    see: sessionAfterAnHour,
  },
  {
    setting: 'orchestrator.session.max_sessions',
    decides: 'how many there may be',
    outcomes: {1: 'session_limit', 2: 'active'},
    async see(orch, test) {
      const opened = openSessions(await openTestOrchestrator(test, {root: orch.cwd}))
      opened.create('one')
      try {
        return opened.create('two').state
      } catch (error) {
        return (error as SvcError).code
      }
    },
  },
  {
    setting: 'orchestrator.session.sessions_dir',
    decides: 'where the files of sessions are that no store keeps',
    outcomes: {'"talks"': ['talks'], '"kept/talks"': ['kept/talks']},
    async see(orch, test) {
      await writeFiles(orch.cwd, {'.svc': 'no folder'})
      openSessions(await openTestOrchestrator(test, {root: orch.cwd, env: withoutStores})).create('builder')
      return ['talks', 'kept/talks'].filter((folder) => existsSync(join(orch.cwd, folder)))
    },
  },
]

/** What is known of the mesh under some environment; undefined where there is no control plane. */
const meshUnder = async ({cwd: root}: Orch, test: TestContext, env: Readonly<Record<string, string>>) =>
  meshSnapshot(await openTestOrchestrator(test, {root, env}))

const mesh: readonly Effect[] = [
  {
    setting: 'SVC_ORCHESTRATOR_MESH_CONTROL_URL',
    decides: 'whether a control plane is asked for the nodes of the mesh',
    outcomes: {'http://127.0.0.1:1': false, '': undefined},
    see: async (orch, test, env) => (await meshUnder(orch, test, env))?.ok,
  },
  {
    setting: 'SVC_MESH_CONTROL_ADDR',
    decides: 'the same for every program of the mesh',
    outcomes: {'http://127.0.0.1:1': false, '': undefined},
    see: async (orch, test, env) => (await meshUnder(orch, test, env))?.ok,
  },
  {
    setting: 'SVC_MESH_TOKEN',
    decides: 'what the control plane is shown',
    outcomes: {'tok-1': 'Bearer tok-1', 'tok-2': 'Bearer tok-2'},
    async see(orch, test, env) {
      const {url, requests} = await controlPlane(test, (response) => response.end('{"nodes": []}'))
      await meshUnder(orch, test, {...env, SVC_ORCHESTRATOR_MESH_CONTROL_URL: url})
      return requests[0]?.authorization
    },
  },
  {
    setting: 'SVC_MESH_MAX_STALE_MS',
    decides: 'which nodes are shown',
    outcomes: {0: ['a', 'b'], 60000: ['a'], 60001: ['a', 'b']},
    async see(orch, test, env) {
      const nodes = [
        {id: 'a', last_seen_unix_ms: 60_001},
        {id: 'b', last_seen_unix_ms: 60_000},
      ]
      const answer = JSON.stringify({server_time_unix_ms: 120_001, nodes})
      const {url} = await controlPlane(test, (response) => response.end(answer))
      const snapshot = await meshUnder(orch, test, {...env, SVC_ORCHESTRATOR_MESH_CONTROL_URL: url})
      return snapshot?.ok === true && snapshot.nodes.map(({id}) => id)
    },
  },
  {
    setting: 'SVC_ORCHESTRATOR_MESH_HTTP_TIMEOUT_MS',
    decides: 'how long the control plane is waited for',
    outcomes: {500: '500 ms', 800: '800 ms'},
    async see(orch, test, env) {
      const {url} = await controlPlane(test, () => {})
      const snapshot = await meshUnder(orch, test, {...env, SVC_ORCHESTRATOR_MESH_CONTROL_URL: url})
      return snapshot?.ok === false && /did not answer within (.*)\.$/.exec(snapshot.error)?.[1]
    },
  },
]

/** Variables that nothing acts on yet: what each may say, and how it is shown. Each moves up once something does. */
const withoutEffect: readonly (readonly [variable: string, text: string, shown: unknown])[] = [
  // What a task must pass before it counts as completed.
  ['SVC_ORCHESTRATOR_TOESTUB_GATE', 'false', false],
  ['SVC_ORCHESTRATOR_MAX_DEBUG_ITERATIONS', '7', 7],
  ['SVC_ORCHESTRATOR_MAX_TOESTUB_DEBUG_ITERATIONS', '8', 8],
  ['SVC_ORCHESTRATOR_MAX_SOCRATES_DEBUG_ITERATIONS', '9', 9],
  ['SVC_ORCHESTRATOR_SOCRATES_GATE_SHADOW', 'true', true],
  ['SVC_ORCHESTRATOR_SOCRATES_GATE_ENFORCE', 'true', true],
  // The attention of the user.
  ['SVC_ORCHESTRATOR_ATTENTION_BUDGET_MS', '1000', 1000],
  ['SVC_ORCHESTRATOR_ATTENTION_ALERT_THRESHOLD', '0.5', 0.5],
  ['SVC_ORCHESTRATOR_ATTENTION_INTERRUPT_COST_MS', '100', 100],
  ['SVC_ORCHESTRATOR_TLX_MENTAL', '0.1', 0.1],
  ['SVC_ORCHESTRATOR_TLX_TEMPORAL', '0.15', 0.15],
  ['SVC_ORCHESTRATOR_TLX_FRUSTRATION', '0.3', 0.3],
  ['SVC_ORCHESTRATOR_TLX_TRUST_DISCOUNT', '0.45', 0.45],
  ['SVC_ORCHESTRATOR_INTERRUPTION_CAL_PLAN_GAIN', '0.02', 0.02],
  ['SVC_ORCHESTRATOR_INTERRUPTION_CAL_A2A_GAIN', '-0.02', -0.02],
  ['SVC_ORCHESTRATOR_INTERRUPTION_CAL_BACKLOG_PENALTY', '0.25', 0.25],
  // Other nodes.
  ['SVC_ORCHESTRATOR_MESH_ROUTING_EXPERIMENTAL', 'true', true],
  ['SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_EXPERIMENTAL', 'true', true],
  ['SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_RECEIVER_AGENT', '2', '2'],
  ['SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_SENDER_AGENT', '1', '1'],
  ['SVC_ORCHESTRATOR_MESH_REMOTE_LEASE_GATING_ENABLED', 'true', true],
  ['SVC_ORCHESTRATOR_MESH_REMOTE_LEASE_GATED_ROLES', 'Builder, verifier', ['builder', 'verifier']],
  ['SVC_ORCHESTRATOR_MESH_REMOTE_RESULT_POLL_INTERVAL_SECS', '0', 0],
  ['SVC_ORCHESTRATOR_MESH_REMOTE_WORKER_POLL_INTERVAL_SECS', '2', 2],
  ['SVC_ORCHESTRATOR_MESH_REMOTE_RESULT_MAX_MESSAGES_PER_POLL', '0', 1],
  ['SVC_ORCHESTRATOR_MESH_EXEC_LEASE_RECONCILE', '1', true],
  ['SVC_ORCHESTRATOR_MESH_EXEC_LEASE_AUTO_REVOKE', '1', true],
  ['SVC_ORCHESTRATOR_MESH_POLL_INTERVAL_SECS', '3', 3],
  ['SVC_MESH_SCOPE_ID', 'team-a', 'team-a'],
]

describe('what is set about taking tasks', {concurrency: 2}, () => decide(intake))
describe('what is set about agents', {concurrency: 2}, () => decide(agents))
describe('what is set about who gets a task', {concurrency: 2}, () => decide(routing))
describe('what is set about load', {concurrency: 2}, () => decide(scaling))
describe('what is set about running tasks', {concurrency: 2}, () => decide(running))
describe('what is set about plans', {concurrency: 2}, () => decide(planning))
describe('what is set about sessions', {concurrency: 2}, () => decide(sessions))
describe('what is set about the mesh', {concurrency: 2}, () => decide(mesh))

describe('the variables of the orchestrator', () => {
  it('are shown with their values where nothing acts on them yet', async (test) => {
    const orch = await orchUnder(test, {env: Object.fromEntries(withoutEffect.map(([name, value]) => [name, value]))})
    const {settings = []} = await orch.ask<ConfigShowV1>('config')
    for (const [variable, , shown] of withoutEffect) {
      const found = settings.find(({env}) => env.includes(variable))
      assert.deepEqual([found?.value, found?.origin], [shown, {source: 'env', name: variable}], variable)
    }
  })

  it('all have a test of what they do, or are known to do nothing yet', () => {
    const variablesOf = ({rows}: SettingTable) => Object.values(rows).flatMap(({env = []}) => env)
    const {journeyStore, journeyFallbackCanonical} = workspaceSettings.rows
    const declared = [...orchestratorTables.flatMap(variablesOf), ...journeyStore.env, ...journeyFallbackCanonical.env]
    const tested = [intake, agents, routing, scaling, running, planning, sessions, mesh].flat().filter(isVariable)
    const known = [...tested.map(({setting}) => setting), ...withoutEffect.map(([variable]) => variable)]
    assert.deepEqual(known.sort(), [...new Set(declared)].sort())
  })
})
