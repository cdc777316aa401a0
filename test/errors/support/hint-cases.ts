import type {ErrorCode} from '../../../src/errors/index.js'
import {templates} from '../../support/orch-workspace.js'
import {projectFile} from '../../support/project.js'
import {
  type Act,
  bootstrapToken,
  brokenRecorder,
  busyDaemon,
  changedSecrets,
  daemon,
  dropUnknown,
  during,
  endingDaemon,
  expiredToken,
  hangUp,
  joinWith,
  keeping,
  lostConnection,
  lostLease,
  noDaemon,
  otherServer,
  ownMesh,
  replacedDaemon,
  replanWhilePlanning,
  strangerAnswers,
  tinyModel,
  unverifiable,
  withFiles,
  withHiddenCheck,
  withoutFiles,
  withStore,
} from './hint-states.js'

export type Step = string | Act

/** How a hint is brought about, and what its commands do. Command lines are without `svc`. */
export interface HintCase {
  toml?: string
  files?: Readonly<Record<string, string>>
  env?: Readonly<Record<string, string>>
  /** The last one fails with the error, or explains it; the others succeed. */
  steps: readonly Step[]
  /** Variables of the last one only. */
  lastEnv?: Readonly<Record<string, string>>
  /** Standard input of the last one, and of programs of the hint; their output is that of `again`. */
  input?: Uint8Array
  /** Servers that run: a control plane, whose token the environment has, or a hub with some models. */
  with?: 'mesh' | 'hub'
  /** What the reader does first, as the hint says: files that are changed, and variables. */
  mend?: {files?: Readonly<Record<string, string>>; env?: Readonly<Record<string, string>>; act?: Act}
  /** Version of Node.js that it needs; default: any. `old` is one before 22. */
  node?: 'old'
  /** The code of another error with the same hint, whose case runs its commands. */
  sameAs?: ErrorCode
  /** Folder in which the reader is; default: the workspace. */
  folder?: string
  /** Values of the placeholders. */
  fill?: Readonly<Record<string, string>>
  /** Steps while the command of the hint with this index runs. */
  meanwhile?: Readonly<Record<number, readonly Step[]>>
  /** Output that the commands together must have. */
  prints?: RegExp
  /** Exit statuses of the commands; default: 0 for each. */
  exits?: readonly (number | readonly number[])[]
  /** The command that failed succeeds after those of the hint. */
  again?: true
  /** Steps at the end, which succeed. */
  cleanup?: readonly Step[]
}

/** Why no test brings about the state; the commands are only parsed. */
export interface NotRun {
  notRun: string
}

const service = 'steps: [{id: go, signal: go}]'
const flow = (steps: string, more = '') => `version: 1\nworkflows:\n  f:\n    ${more}\n    ${steps}\n`
export const waiting = {'f.yaml': flow(service)}
export const failing = {'f.yaml': flow('steps: [{id: t, exec: [test, -e, there]}]')}
const external = 'submit work --processor external'
const claimed = [`orch ${external}`, 'orch claim --as me']
const messaged = ['orch agent spawn ada', 'orch agent spawn bob', 'a2a send ada bob free_form hi --route db']
const drivers = ['node_modules/better-sqlite3', 'node_modules/better-sqlite3-v12']
export const program =
  '@table type Task { title: str }\n@endpoint(kind: query) fn titles() to List[Task] { return db.Task.all() }\n'

export const hello = projectFile('examples/hello.wav')
export const attention = (budgetMs: number) =>
  `[orchestrator]\nattention_enabled = true\nattention_budget_ms = ${budgetMs}\n`
/** A task that a model submits, and a person must approve. */
const riskyTask = `mcp call svc_submit_task '{"description": "Delete the old table", "files": [], "processor": "external"}'`
export const planning = '[orchestrator]\nplanning_auto_mode_enabled = true\ndefault_processor = "external"\n'
const newPlan = keeping('PLAN', 'orch plan new "Add the parser\nAdd the printer" --json', /"session_id":"(plan-[^"]+)"/)
const failedStep = [newPlan, 'orch plan execute {PLAN}', 'orch claim --as me', 'orch fail 1 --claim 1 --reason no']
/** A command that runs until a file exists. */
const untilGo = `[orchestrator.exec]
enabled = true
[orchestrator.exec.templates]
wait = ["sh", "-c", "until test -e {root}/go; do sleep 0.05; done"]
`
/** The folder of another machine. */
export const elsewhere = {'elsewhere/Svc.toml': '', 'third/Svc.toml': ''}
/** A control plane reads a new bootstrap token on SIGHUP, as the hint says. */
const joinsThen = {files: elsewhere, cleanup: [hangUp, joinWith((kept) => kept, 'third')]}

export const needs = (what: string): NotRun => ({notRun: `It needs ${what}.`})

/** The hints with commands by the code of their error. */
export const hintCases: Partial<Record<ErrorCode, HintCase | NotRun | readonly HintCase[]>> = {
  command_unknown: {steps: ['genrate'], prints: /USAGE/},
  code_unknown: {steps: ['explain nope'], prints: /^parse +\d/m},
  question_unknown: {steps: ['ask how do I bake bread'], prints: /USAGE/},
  stdin_not_utf8: {
    input: Buffer.from('Caf\u00e9', 'latin1'),
    steps: ['orch submit - --processor external'],
    again: true,
  },
  config_unparsable: {
    toml: '[engine\n',
    steps: ['config show'],
    mend: {files: {'Svc.toml': '[engine]\n'}},
    again: true,
  },
  config_type: {
    toml: '[engine]\nthreads = "four"\n',
    steps: ['orch status'],
    mend: {files: {'Svc.toml': '[engine]\nthreads = 4\n'}},
    again: true,
  },
  config_user_only: {
    toml: '[orchestrator.exec]\nuser = "nobody"\n',
    steps: ['orch status'],
    mend: {files: {'Svc.toml': ''}},
    again: true,
  },
  hidden_checks_unread: {
    steps: [`orch ${external}`, withHiddenCheck, 'orch claim --as me'],
    again: true,
    cleanup: ['daemon stop'],
  },
  orchestrator_config_invalid: {
    toml: '[orchestrator]\nmin_agents = 4\nmax_agents = 2\n',
    steps: ['orch status'],
    prints: /min_agents/,
  },
  setting_unknown: {
    steps: ['daemon start', `daemon call config.get '{"key": "nope"}'`],
    prints: /max_agents/,
    cleanup: ['daemon stop'],
  },
  contract_unknown: {steps: ['contracts validate nope f.yaml'], files: waiting, prints: /cli\/error\.v1/},
  contract_violation: {
    files: {'error.json': '{}'},
    steps: ['contracts validate cli/error.v1 error.json'],
    prints: /error\.v1/,
  },
  lfs_pointer: needs('Git LFS and a repository with a model'),
  model_format_unsupported: needs('Python with the package transformers'),
  recorder_failed: {steps: [brokenRecorder, 'listen'], prints: /hw:0/},
  speech_model_missing: {with: 'hub', steps: [withoutFiles(`transcribe ${hello}`, 'examples')]},
  program_invalid: {
    files: {'bad.svc': '@table type Task { title: strr }\n'},
    steps: ['db build bad.svc'],
    fill: {FILE: 'bad.svc'},
    exits: [1],
    prints: /strr/,
  },
  expression_invalid: {
    files: {'src/main.svc': program},
    steps: ['db migrate --yes', 'db query nobody'],
    prints: /typecheck\.undefined/,
  },
  store_damaged: {
    files: {'src/main.svc': program, '.svc/app.db': 'not a database'},
    steps: ['db migrate --yes --db other.db', 'db backup good.db --db other.db', 'db query db.Task.all()'],
    fill: {FILE: 'good.db'},
    again: true,
  },
  endpoint_unknown: {files: {'src/main.svc': program}, steps: ['db call nope'], prints: /titles/},
  topic_unknown: {files: {'src/main.svc': program}, steps: ['db watch nope']},
  table_unknown: {
    files: {'src/main.svc': program},
    steps: ['db migrate --yes', 'db sample --table Nope'],
    prints: /Task/,
  },
  database_missing: {files: {'src/main.svc': program}, steps: ['db query db.Task.all()'], again: true},
  stopped: {steps: ['orch stop --emergency', `orch ${external}`], again: true},
  task_not_found: {steps: [`orch ${external}`, 'orch task 9'], prints: /T-0001/},
  invalid_transition: {steps: [`orch ${external}`, 'orch cancel 1', 'orch approve 1'], prints: /Cancelled/},
  receipt_invalid: {steps: [...claimed, 'orch verify 1']},
  dependency_unknown: {steps: [`orch ${external}`, 'orch submit more --after 9'], prints: /T-0001/},
  dependency_failed: {
    steps: [...claimed, 'orch fail 1 --claim 1 --reason no', 'orch submit more --after 1'],
    again: true,
  },
  question_not_found: {
    steps: ['orch questions ask --session-id s "Which format?"', 'orch questions answer Q-0009 x'],
    prints: /Q-0001/,
  },
  question_answered: {
    steps: [
      'orch questions ask --session-id s "Which format?"',
      'orch questions answer 1 yaml',
      'orch questions answer 1 json',
    ],
  },
  question_pending: {
    steps: [
      `orch ${external} --session-id s`,
      'orch questions ask --task-id 1 --blocks "Which format?"',
      'orch approve 1',
    ],
    fill: {TEXT: 'yaml'},
  },
  queue_full: {
    toml: '[orchestrator]\nmax_queue_len = 1\nmax_agents = 1\n',
    steps: [`orch ${external}`, `orch ${external}`],
    fill: {TASK: '1'},
    again: true,
  },
  agent_not_found: {steps: ['orch agent spawn ada', 'orch agent pause nope'], prints: /ada/},
  agent_exists: {steps: ['orch agent spawn ada', 'orch agent spawn ada'], again: true},
  max_agents_reached: {
    toml: '[orchestrator]\nmax_agents = 1\n',
    steps: ['orch agent spawn ada', 'orch agent spawn bob'],
    fill: {AGENT: 'ada'},
    again: true,
  },
  last_agent: {
    steps: [
      'orch agent spawn ada',
      `orch ${external} --agent ada`,
      'orch agent spawn bob',
      'orch agent pause bob',
      'orch agent retire ada',
    ],
    fill: {NAME: 'cid', AGENT: 'bob'},
    again: true,
  },
  delegation_parent_not_found: {
    steps: ['orch agent spawn ada', 'orch agent spawn bob --parent nope'],
    prints: /ada/,
  },
  claim_lost: {steps: [...claimed, `orch ${external}`, 'orch complete 1 --claim 7'], prints: /T-0002/},
  no_task_to_claim: {steps: ['orch claim'], fill: {DESCRIPTION: 'work'}, prints: /T-0001 1/},
  task_not_successful: {steps: [...claimed, 'orch fail 1 --claim 1 --reason no', 'orch task 1 --wait']},
  daemon_running: {steps: ['daemon start', 'daemon start'], again: true, cleanup: ['daemon stop']},
  daemon_not_running: {steps: ['daemon stop'], again: true},
  exec_template_missing: {
    toml: templates,
    steps: [
      'orch submit x --exec say --param word=x',
      withStore("UPDATE orch_tasks SET request = json_remove(request, '$.exec')"),
      daemon(),
      during('orch task 1 --wait', /(?:)/),
      'explain exec_template_missing',
    ],
    prints: /say/,
  },
  exec_template_unknown: {toml: templates, steps: ['orch submit x --exec nope'], prints: /say/},
  plan_not_found: {steps: ['orch plan status nope']},
  workflow_invalid: {
    files: {'f.yaml': flow(`steps: [{id: a, exec: [echo, "\${{ nope }}"]}]`)},
    steps: ['workflow run f.yaml'],
    mend: {files: waiting},
    fill: {FILE: 'f.yaml'},
  },
  workflow_unknown: {
    files: {'f.yaml': `${flow(service)}  g:\n    steps: [{id: a, exec: [echo, hi]}]\n`},
    steps: ['workflow run f.yaml'],
    fill: {FILE: 'f.yaml', NAME: 'g'},
  },
  workflow_input_invalid: {
    files: {'f.yaml': flow(service, 'input: {name: {type: string}}')},
    steps: ['workflow run f.yaml'],
    fill: {FILE: 'f.yaml'},
    prints: /name/,
  },
  workflow_run_not_found: {
    files: waiting,
    steps: ['workflow run f.yaml --run-id r --no-wait', 'workflow status nope'],
    prints: /^r /m,
  },
  workflow_run_exists: {
    files: waiting,
    steps: [
      `workflow run f.yaml --run-id "it's 1" --no-wait`,
      `workflow signal "it's 1" go`,
      `workflow run f.yaml --run-id "it's 1" --detach`,
    ],
  },
  workflow_finished: {
    files: {'f.yaml': flow('steps: [{id: a, exec: [echo, hi]}]')},
    steps: ['workflow run f.yaml --run-id r', 'workflow signal r go'],
    fill: {FILE: 'f.yaml'},
  },
  workflow_failed: {files: failing, steps: ['workflow run f.yaml --run-id r'], mend: {files: {there: ''}}},
  workflow_decided: {
    files: {'f.yaml': flow('steps: [{id: ask, approval: "Now?"}]')},
    steps: ['workflow run f.yaml --run-id r --no-wait', 'workflow signal r ask', 'workflow signal r ask --reject no'],
  },
  workflow_cancelled: {
    files: waiting,
    steps: [during('workflow run f.yaml --run-id r', /signal r go/, {lines: ['workflow cancel r']})],
    mend: {files: {'f.yaml': flow('steps: [{id: a, exec: [echo, hi]}]')}},
    fill: {FILE: 'f.yaml'},
  },
  message_not_found: {
    steps: ['orch agent spawn ada', 'orch agent spawn bob', 'a2a send ada bob free_form hi', 'a2a ack bob 9'],
    fill: {AGENT: 'bob'},
  },
  message_claim_lost: [
    {steps: [...messaged, 'a2a ack bob 1 --error full --as me'], fill: {AGENT: 'bob', OWNER: 'me'}, again: true},
    {
      steps: [...messaged, 'a2a inbox bob --claim --as other', 'a2a ack bob 1 --as me'],
      fill: {AGENT: 'bob'},
      prints: /message 1 is acknowledged/,
    },
  ],
  operation_not_found: {steps: [`orch ${external}`, 'orch undo 99']},
  operation_conflict: {
    steps: ['orch agent spawn ada', ...claimed, 'orch undo 1'],
    fill: {TASK: '1', AGENT: 'ada'},
  },
  unknown_tool: {steps: ['mcp call nope'], prints: /svc_submit_task/},
  mcp_client_file_invalid: {
    files: {'.cursor/mcp.json': '{'},
    steps: ['mcp config --client cursor --write'],
    prints: /mcpServers/,
  },
  session_not_found: {steps: ['orch session show nope']},
  session_limit: {
    toml: '[orchestrator.session]\nmax_sessions = 1\n',
    steps: ['orch agent spawn ada', 'orch session create ada', 'orch session create ada'],
    prints: /SESSION/,
  },
  store_engine_missing: {steps: [withoutFiles('orch status', ...drivers.map((driver) => `${driver}/build`))]},
  store_node_unsupported: {steps: [withoutFiles('orch status', ...drivers)], node: 'old'},
  vector_engine_missing: {
    files: {
      'src/main.svc': `${program}@table type Note { vector: List[float] }\n@vector_index Note.by_vector on (vector) { dimensions: 3 }\n`,
    },
    steps: [withoutFiles('db migrate --yes', 'node_modules/sqlite-vec')],
  },
  migration_blocked: {
    files: {'old.svc': program, 'src/main.svc': program.replace('title: str', 'title: int')},
    steps: ['db migrate old.svc --yes', 'db call titles'],
    exits: [3],
    prints: /--/,
  },
  migration_choice: {
    files: {'src/main.svc': program},
    steps: ['db migrate --drop Task.nope'],
  },
  approval_blocked: {
    toml: attention(1),
    steps: [riskyTask, `mcp call svc_approve_task '{"task_id": 1}'`],
    prints: /T-0001/,
  },
  agent_session_mismatch: {
    steps: [
      'orch agent spawn ada',
      'orch agent spawn bob',
      `mcp call svc_map_agent_session '{"agent_id": "ada", "session_id": "mine"}'`,
      'a2a send ada bob free_form hi',
    ],
    prints: /"session_id":"mine"/,
  },
  completion_refused: {
    toml: `[orchestrator]
harness_completion_guard = "enforce"
behavioral_gate_on_complete = true
behavioral_gate_command = ["test"]
[orchestrator.exec]
enabled = true
[orchestrator.exec.templates]
test = ["false"]
`,
    steps: [...claimed, 'orch complete 1 --claim 1'],
    prints: /gate/,
  },
  model_not_found: {with: 'hub', steps: ['generate --model acme/llama --raw a --max-tokens 1'], again: true},
  hub_offline: {
    with: 'hub',
    steps: ['speech pull acme/whisper'],
    lastEnv: {HF_HUB_OFFLINE: '1'},
    again: true,
  },
  unknown_node: {with: 'mesh', env: {SVC_MESH_NODE_ID: 'n1'}, steps: ['mesh leases --grant k1'], again: true},
  node_quarantined: {
    with: 'mesh',
    steps: ['mesh join --once --node n2', 'mesh admin quarantine n2 --state on', 'mesh leases --grant k2 --node n2'],
    fill: {NODE: 'n2'},
    again: true,
  },
  node_maintenance: {
    with: 'mesh',
    steps: ['mesh join --once --node n3', 'mesh admin maintenance n3 --state on', 'mesh leases --grant k3 --node n3'],
    fill: {NODE: 'n3'},
    again: true,
  },
  node_not_found: {with: 'mesh', steps: ['mesh admin quarantine nobody --state on']},
  dead_message_not_found: {with: 'mesh', steps: [dropUnknown]},
  lease_held: {
    with: 'mesh',
    steps: [
      'mesh join --once --node n4',
      'mesh join --once --node n5',
      'mesh leases --grant k4 --node n4',
      'mesh leases --grant k4 --node n5',
    ],
    prints: /k4 +n4/,
  },
  mesh_denied: {with: 'mesh', steps: ['mesh leases'], lastEnv: {SVC_MESH_TOKEN: 'wrong'}, prints: /connected|token/i},
  mesh_missing: {with: 'mesh', steps: ['mesh join --once --node n6', 'mesh ack 7 999999 --node n6']},
  mesh_unprotected: {steps: ['mesh serve --host 0.0.0.0 --port 0 --db mesh.db'], prints: /join --bootstrap/},
  mesh_tokens_equal: {
    steps: ['mesh serve --port 0 --db mesh.db'],
    lastEnv: {SVC_MESH_TOKEN: 'a'.repeat(40), SVC_MESH_WORKER_TOKEN: 'a'.repeat(40)},
    prints: /join --bootstrap/,
  },
  server_token_missing: {steps: ['mesh init --bootstrap'], again: true},
  bootstrap_invalid: {...joinsThen, steps: [ownMesh, joinWith(() => 'a-token-of-somebody-else')]},
  bootstrap_disabled: {
    ...joinsThen,
    steps: [
      ownMesh,
      changedSecrets((text) => text.replace(/^SVC_MESH_BOOTSTRAP_.*\n/gm, '')),
      joinWith(() => 'a-removed-token'),
    ],
  },
  bootstrap_consumed: {...joinsThen, steps: [ownMesh, joinWith((kept) => kept), joinWith((kept) => kept, 'third')]},
  bootstrap_expired: {...joinsThen, steps: [ownMesh, expiredToken, joinWith((kept) => kept)]},
  mesh_token_missing: {
    files: elsewhere,
    steps: [ownMesh, ({svc, at}) => svc('mesh stats', at('elsewhere'))],
    mend: {
      act: async (world) => {
        world.env.SVC_MESH_BOOTSTRAP_TOKEN = await bootstrapToken(world)
      },
    },
    folder: 'elsewhere',
    prints: /joined/,
  },
  mesh_export_invalid: {
    files: {'cut.ndjson': '{'},
    steps: [during('mesh serve --port 0', /Listening/, {signal: 'SIGTERM'}), 'mesh import cut.ndjson --db copy.db'],
    prints: /mesh/,
  },
  mesh_secret_weak: {
    steps: ['mesh serve --port 0 --db mesh.db'],
    lastEnv: {SVC_MESH_JWT_HMAC_SECRET: 'short'},
    prints: /^[A-Za-z0-9+/]{43}=\n$/,
  },
  remote_task_rejected: {
    with: 'mesh',
    steps: ['mesh join --once --node n7', 'explain remote_task_rejected'],
    prints: /n7/,
  },
  speech_kpi_violated: {
    files: {
      'set.jsonl': '{"path": "a.txt", "expected": "one two"}\n',
      'a.txt': 'one two',
      'bad.json': '{"schema_version": "1", "captured_at_utc": "2026-01-15T10:00:00Z", "wer": 0.4}',
    },
    steps: ['speech serve --port 0'],
    lastEnv: {SVC_SPEECH_CANARY_KPI: 'bad.json'},
    fill: {DATASET: 'set.jsonl', FILE: 'kpi.json'},
  },
  speech_unavailable: {
    steps: ['explain speech_unavailable'],
    fill: {RECORDING: hello},
    prints: /hello/,
  },
  doom_loop: {
    env: {SVC_MCP_LLM_COST_EVENTS: '1'},
    steps: [
      'orch agent spawn ada',
      'orch agent spawn bob',
      `mcp call svc_record_cost '{"agent_id": "ada", "provider": "p", "model": "m", "cost_usd": 6}'`,
      `orch ${external} --agent ada`,
    ],
  },
  attention_exhausted: {
    toml: attention(1),
    steps: [riskyTask, 'orch approve 1', riskyTask],
    again: true,
  },
  plan_review_required: {
    toml: `${attention(100_000)}planning_auto_mode_enabled = true\n`,
    steps: [
      keeping(
        'PLAN',
        'orch plan new "Delete the old releases of the site" --mode direct --json',
        /"session_id":"([^"]+)"/,
      ),
      `mcp call svc_plan_execute '{"session_id": "{PLAN}"}'`,
    ],
    prints: /T-0001/,
  },
  stale_handoff: {
    steps: [
      'orch agent spawn ada',
      'orch agent spawn bob',
      `orch ${external} --agent ada`,
      `mcp call svc_agent_handoff '{"task_id": 1, "from_agent_id": "bob", "to_agent_id": "ada", "plan_summary": "x", "verification_criteria": ["y"]}'`,
    ],
    prints: /ada/,
  },
  task_wait_timeout: {
    steps: [`orch ${external} --wait --timeout 1`],
    exits: [3, 0],
    meanwhile: {1: ['orch claim --as me', 'orch complete 1 --claim 1']},
  },
  wait_interrupted: {
    steps: [during(`orch ${external} --wait`, /T-0001 is Queued/, {signal: 'SIGINT'})],
    meanwhile: {0: ['orch claim --as me', 'orch complete 1 --claim 1']},
  },
  wait_terminated: {
    steps: [during(`orch ${external} --wait`, /T-0001 is Queued/, {signal: 'SIGTERM'})],
    sameAs: 'wait_interrupted',
  },
  daemon_replaced: {steps: [replacedDaemon], prints: /listening on/, cleanup: ['daemon stop']},
  daemon_unverified: {steps: [unverifiable, 'daemon stop'], cleanup: [noDaemon]},
  daemon_silent: [
    {
      steps: [daemon('daemon run --listen off --json'), 'daemon call orch.ping'],
      again: true,
      cleanup: ['daemon stop'],
    },
    {
      toml: untilGo,
      steps: [busyDaemon({isEnding: true}), 'daemon call orch.ping'],
      meanwhile: {0: [withFiles({go: ''})]},
      // The daemon may have ended before the command looks for it.
      exits: [[0, 3]],
      again: true,
      cleanup: ['daemon stop'],
    },
  ],
  daemon_stop_timeout: {
    toml: untilGo,
    steps: [busyDaemon({isEnding: false}), 'daemon stop --timeout 0'],
    mend: {act: endingDaemon},
    cleanup: [noDaemon],
  },
  daemon_connection_lost: {
    steps: [daemon(), lostConnection],
    exits: [3],
  },
  call_invalid: {steps: [daemon(), strangerAnswers(-32_602)], cleanup: ['daemon stop']},
  call_not_found: {steps: [strangerAnswers(404)], sameAs: 'call_invalid'},
  call_refused: {steps: [strangerAnswers(403)], sameAs: 'call_invalid'},
  call_unavailable: {steps: [strangerAnswers(503)], sameAs: 'call_invalid'},
  call_failed: {steps: [strangerAnswers(500)], sameAs: 'call_invalid'},
  task_run_failed: {
    toml: templates,
    steps: ['orch submit x --exec break', daemon(), during('orch task 1 --wait', /(?:)/), 'explain task_run_failed'],
    fill: {TASK: '1'},
  },
  inference_protocol: {
    steps: [tinyModel, otherServer, `mcp call svc_chat_message '{"prompt": "hi"}'`],
    env: {SVC_SERVE_PORT: '0'},
    fill: {MODEL: 'tiny'},
    prints: /http/,
  },
  plan_changed: {
    toml: `${planning}planning_llm_synthesis_enabled = true\n`,
    steps: [newPlan, replanWhilePlanning],
    prints: /version +2/,
  },
  plan_stuck: {
    toml: planning,
    steps: [...failedStep, 'orch plan execute {PLAN}'],
    fill: {TASK: '1', CHANGE: 'more'},
    again: true,
  },
  plan_step_replaced: {
    toml: planning,
    steps: [...failedStep, 'orch plan replan {PLAN} more', 'orch retry 1'],
    prints: /T-0002/,
  },
  workflow_lease_lost: {files: waiting, steps: [lostLease], prints: /running/, cleanup: ['workflow signal r go']},
  workflow_activity_failed: {
    files: failing,
    steps: [during('workflow run f.yaml --run-id r', /(?:)/), 'explain workflow_activity_failed'],
    mend: {files: {there: ''}},
    fill: {RUN: 'r'},
  },
  workflow_interrupted: {
    files: waiting,
    steps: [during('workflow run f.yaml --run-id r', /signal r go/, {signal: 'SIGINT'})],
    meanwhile: {0: ['workflow signal r go']},
  },
  workflow_terminated: {
    files: waiting,
    steps: [during('workflow run f.yaml --run-id r', /signal r go/, {signal: 'SIGTERM'})],
    sameAs: 'workflow_interrupted',
  },
  benchmark_unknown: {steps: ['bench run nope'], prints: /startup/},
}
