import {failing, type HintCase, type NotRun, needs, waiting} from './hint-cases.js'

/** A message of the last step, whether or not it succeeds. */
export interface TextCase extends HintCase {
  /** The command as it is printed. */
  shown: string
}

const run = 'workflow run f.yaml --run-id r'
const daemon = {shown: 'svc daemon start', cleanup: ['daemon stop']}
const start = {shown: 'svc orch start'}

/** The messages with commands, apart from hints, by their source. */
export const textCases: Readonly<Record<string, NotRun | readonly TextCase[]>> = {
  'commands/bench/syntax-k.ts': needs('a program with errors; the guide of benchmarks runs it'),
  'commands/doctor.ts': [{steps: ['doctor'], ...daemon}],
  'commands/listen.ts': needs('a recording'),
  'commands/mesh/serve.ts': needs('a control plane without tokens, which runs until it is stopped'),
  'commands/orch/stop.ts': [{steps: ['orch stop --emergency'], ...start}],
  'commands/orch/submit.ts': needs('a plan with an id'),
  'commands/workflow/run.ts': [{files: waiting, steps: [`${run} --detach`], ...daemon}],
  'src/cli/database-file.ts': needs('PostgreSQL'),
  'src/cli/mesh-command.ts': needs('a control plane; unknown_node runs the command'),
  'src/cli/orch-command.ts': needs('a task that a daemon runs while the command waits'),
  'src/cli/orch-text.ts': [{steps: ['orch stop --emergency', 'orch status'], ...start}],
  'src/cli/session-text.ts': [
    {
      steps: ['orch agent spawn ada', 'orch session list'],
      shown: 'svc orch session create AGENT',
      fill: {AGENT: 'ada'},
    },
  ],
  'src/cli/speech-command.ts': needs('a hub; hub_offline runs the command'),
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
  'src/mcp/prompts.ts': needs('a program that a model writes'),
  'src/mesh/secrets/init.ts': needs('a control plane; the guide of the mesh runs the command'),
  'src/speech/transcriber.ts': needs('a hub; hub_offline runs the command'),
  'src/tasks/gates/approval.ts': needs('a gate that refuses a result'),
}
