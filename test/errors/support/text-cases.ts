import {
  attention,
  elsewhere,
  failing,
  type HintCase,
  hello,
  type NotRun,
  needs,
  planning,
  program,
  waiting,
} from './hint-cases.js'
import {during, freeMeshPort, programPrompt, running, withFiles} from './hint-states.js'

/** A message of the last step, whether or not it succeeds. */
export interface TextCase extends HintCase {
  /** The command as it is printed. */
  shown: string | RegExp
}

const run = 'workflow run f.yaml --run-id r'
const daemon = {shown: 'svc daemon start', cleanup: ['daemon stop']}
const start = {shown: 'svc orch start'}

/** The messages with commands, apart from hints, by their source. */
export const textCases: Readonly<Record<string, NotRun | readonly TextCase[]>> = {
  'commands/bench/syntax-k.ts': [
    {
      files: {'bad.svc': '@table type Task { title: strr }\n'},
      steps: ['bench syntax-k bad.svc'],
      shown: 'svc db check FILE',
      fill: {FILE: 'bad.svc'},
      exits: [1],
      prints: /strr/,
    },
  ],
  'commands/doctor.ts': [{steps: ['doctor'], ...daemon}],
  'commands/init.ts': [
    {files: {'inner/notes.txt': ''}, steps: ['init -C inner'], shown: 'svc config check', prints: /Svc\.toml/},
  ],
  'commands/listen.ts': [
    {
      steps: [`listen ${hello} --channels split`],
      shown: 'svc transcribe RECORDING',
      fill: {RECORDING: hello},
      prints: /hello/,
    },
  ],
  'commands/mesh/serve.ts': [
    {
      steps: [during('mesh serve --port 0 --db mesh.db', /no token/, {signal: 'SIGTERM'})],
      shown: 'svc mesh init',
      prints: /join --bootstrap/,
    },
  ],
  'commands/orch/stop.ts': [{steps: ['orch stop --emergency'], ...start}],
  'commands/orch/submit.ts': [
    {
      toml: planning,
      steps: ['orch submit "Add the parser\nAdd the printer" --planning-mode force_plan'],
      shown: /svc orch plan status plan-[\w-]+/,
    },
  ],
  'commands/workflow/schedules.ts': [
    {
      toml: '[orchestrator]\nworkflow_files = ["f.yaml"]\n',
      files: {'f.yaml': "version: 1\nworkflows: {w: {cron: '0 3 * * *', steps: [{exec: ['true']}]}}\n"},
      steps: ['workflow schedules'],
      ...daemon,
    },
  ],
  'src/cli/database-file.ts': needs(
    'PostgreSQL, which the first tier does not start; mesh-transfer.test.ts runs the command',
  ),
  'src/cli/explain-text.ts': [{steps: ['explain'], shown: 'svc explain GROUP', fill: {GROUP: 'parse'}}],
  'src/cli/language-model.ts': [
    {
      steps: ['generate --max-tokens 1 Hi'],
      shown: 'svc ask QUESTION',
      fill: {QUESTION: 'daemon'},
      prints: /svc daemon/,
    },
  ],
  'src/cli/mesh-command.ts': [{with: 'mesh', steps: ['mesh ack 7 1'], shown: 'svc mesh join', prints: /joined/}],
  'src/cli/model-list.ts': [
    {with: 'hub', steps: ['list'], shown: 'svc pull Qwen/Qwen2.5-0.5B-Instruct'},
    {with: 'hub', steps: ['list'], shown: 'svc pull tiny.en'},
  ],
  'src/cli/orch-command.ts': [
    {steps: ['orch submit work --wait --timeout 1'], ...daemon},
    {files: waiting, steps: [`${run} --detach`], ...daemon},
  ],
  'src/cli/orch-text.ts': [{steps: ['orch stop --emergency', 'orch status'], ...start}],
  'src/cli/session-text.ts': [
    {
      steps: ['orch agent spawn ada', 'orch session list'],
      shown: 'svc orch session create AGENT',
      fill: {AGENT: 'ada'},
    },
  ],
  'src/cli/speech-command.ts': [{with: 'hub', steps: ['speech doctor'], shown: 'svc speech pull tiny.en'}],
  'src/cli/workflow-command.ts': [
    {files: waiting, steps: [`${run} --no-wait`], shown: 'svc workflow signal r go'},
    {
      files: waiting,
      steps: [`workflow run f.yaml --run-id "it's" --no-wait`],
      shown: "svc workflow signal 'it'\\''s' go",
    },
  ],
  'src/cli/workflow-text.ts': [
    {files: waiting, steps: [`${run} --no-wait`, 'workflow status r'], shown: 'svc workflow signal r go'},
    {
      files: failing,
      steps: [`${run} --detach`, 'workflow status r'],
      mend: {files: {there: ''}},
      shown: 'svc workflow resume r',
    },
  ],
  'src/mcp/prompts.ts': ['svc db check', 'svc db test'].map((shown) => ({
    files: {'src/main.svc': `${program}@test fn works() {\n    assert(1 is 1)\n}\n`},
    steps: [programPrompt],
    shown,
  })),
  'src/mesh/secrets/init.ts': [
    {
      files: elsewhere,
      steps: [freeMeshPort, 'mesh init'],
      shown: /SVC_MESH_BOOTSTRAP_TOKEN=.*/,
      mend: {act: running('mesh serve --json')},
      folder: 'elsewhere',
      prints: /joined/,
    },
  ],
  'src/speech/transcriber/recognition.ts': [
    {
      with: 'hub',
      // Without the vowels, the starter model understands nothing.
      env: {SVC_SPEECH_LOGIT_FORBID_TOKENS: '3 7 10 11 14 15 16 17 23'},
      steps: [`transcribe ${hello}`],
      shown: 'svc speech pull tiny.en',
    },
  ],
  'src/tasks/gates/approval.ts': [
    {
      toml: `${attention(100_000)}harness_completion_guard = "enforce"\n`,
      steps: [
        `mcp call svc_submit_task '{"description": "Explain it [human-approved]", "files": [{"path": "a.txt", "access": "write"}, {"path": "b.txt", "access": "write"}], "processor": "external"}'`,
        'orch claim --as me',
        withFiles({'a.txt': 'one', 'b.txt': 'two'}),
        'orch complete 1 --claim 1 --check peer_review_approved --non-placeholder --summary "It reads one token at a time."',
      ],
      shown: 'svc orch approve TASK',
      fill: {TASK: '1'},
    },
  ],
}
