import type {ErrorCode} from '../../../src/errors/index.js'
import {templates} from '../../support/orch-workspace.js'

/** How a hint is brought about, and what its commands do. Command lines are without `svc`. */
export interface HintCase {
  toml?: string
  files?: Readonly<Record<string, string>>
  env?: Readonly<Record<string, string>>
  /** The last one fails with the error; the others succeed. */
  steps: readonly string[]
  /** Variables of the last one only. */
  lastEnv?: Readonly<Record<string, string>>
  /** Servers that run: a control plane, whose token the environment has, or a hub with one model. */
  with?: 'mesh' | 'hub'
  /** What the reader does first, as the hint says: files that are changed, and variables. */
  mend?: {files?: Readonly<Record<string, string>>; env?: Readonly<Record<string, string>>}
  /** Values of the placeholders. */
  fill?: Readonly<Record<string, string>>
  /** Output that the commands together must have. */
  prints?: RegExp
  /** Exit statuses of the commands; default: 0 for each. */
  exits?: readonly number[]
  /** The command that failed succeeds after those of the hint. */
  again?: true
  /** Command lines at the end, which succeed. */
  cleanup?: readonly string[]
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
const program =
  '@table type Task { title: str }\n@endpoint(kind: query) fn titles() to List[Task] { return db.Task.all() }\n'

export const needs = (what: string): NotRun => ({notRun: `It needs ${what}.`})

/** The hints with commands by the code of their error. */
export const hintCases: Partial<Record<ErrorCode, HintCase | NotRun | readonly HintCase[]>> = {
  command_unknown: {steps: ['genrate'], prints: /USAGE/},
  code_unknown: {steps: ['explain nope'], prints: /task_not_found/},
  stdin_not_utf8: needs('iconv'),
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
  recorder_failed: needs('a microphone'),
  speech_model_missing: needs('an installation without the starter model'),
  program_invalid: {
    files: {'bad.svc': '@table type Task { title: strr }\n'},
    steps: ['db build bad.svc'],
    fill: {FILE: 'bad.svc'},
    exits: [1],
    prints: /strr/,
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
  exec_template_missing: needs('a task of an earlier version, because submissions without a template are refused'),
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
  workflow_cancelled: needs('a run that is cancelled while its command waits'),
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
  store_engine_missing: needs('an installation without its SQLite driver'),
  store_node_unsupported: needs('an old version of Node.js'),
  vector_engine_missing: needs('an installation without sqlite-vec'),
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
  approval_blocked: needs('a caller that is a model'),
  agent_session_mismatch: needs('an agent that a session is bound to'),
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
  dead_message_not_found: needs('a request over HTTP; the command reports unknown ids in its result'),
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
  bootstrap_invalid: needs('a control plane with secrets of its own; mesh-init.test.ts runs the command there'),
  bootstrap_disabled: needs('a control plane with secrets of its own; mesh-init.test.ts runs the command there'),
  bootstrap_consumed: needs('a control plane with secrets of its own; mesh-init.test.ts runs the command there'),
  bootstrap_expired: needs('a control plane with secrets of its own; mesh-init.test.ts runs the command there'),
  mesh_token_missing: needs('a bootstrap token; mesh-join.test.ts runs the command with one'),
  mesh_export_invalid: needs('the control plane of the export; mesh-transfer.test.ts runs the command there'),
  mesh_secret_weak: needs('openssl'),
  remote_task_rejected: needs('a second machine'),
  speech_kpi_violated: needs('a model and its measurement; speech-eval.test.ts runs the command'),
  speech_unavailable: needs('a process without speech recognition, which no command of svc starts'),
  doom_loop: needs('model calls with costs'),
  attention_exhausted: needs('a caller that is a model'),
  plan_review_required: needs('a caller that is a model'),
  stale_handoff: needs('a handoff over JSON-RPC'),
  task_wait_timeout: needs('a task that ends while the command of the hint waits'),
  wait_interrupted: needs('a task that ends while the command of the hint waits'),
  wait_terminated: needs('a task that ends while the command of the hint waits'),
  daemon_replaced: needs('two daemons of one workspace'),
  daemon_unverified: needs('a system without the start times of processes'),
  daemon_silent: needs('a daemon that does not listen'),
  daemon_stop_timeout: needs('a process that must be ended'),
  daemon_connection_lost: needs('a daemon that closes a connection'),
  call_invalid: needs('a daemon of another version'),
  call_not_found: needs('a daemon of another version'),
  call_refused: needs('a daemon of another version'),
  call_unavailable: needs('a daemon of another version'),
  call_failed: needs('a daemon of another version'),
  task_run_failed: needs('a daemon that runs the task'),
  inference_protocol: needs('a model that is served'),
  plan_changed: needs('a plan that changes between two requests'),
  plan_stuck: needs('a plan whose steps fail'),
  plan_step_replaced: needs('a plan that is replaced while a step runs'),
  workflow_lease_lost: needs('a process that stops and continues'),
  workflow_activity_failed: needs('an activity, whose error is the reason of workflow_failed'),
  workflow_interrupted: needs('a signal to the process'),
  workflow_terminated: needs('a signal to the process'),
  benchmark_unknown: {steps: ['bench run nope'], prints: /startup/},
}
