import {resolve} from 'node:path'
import {Args, Flags} from '@oclif/core'
import {driveFlags, fileOrInput, readTextInput, WorkflowCommand, workflowInputs} from '../../src/cli/index.js'
import {SvcError} from '../../src/errors/index.js'

export default class WorkflowRun extends WorkflowCommand<typeof WorkflowRun> {
  static override summary = 'Run a workflow and print its output.'
  static override description =
    `Each step is recorded before the next one starts. A run that is interrupted, even by SIGKILL, continues with svc
workflow resume or in a running daemon, and repeats no completed step. A run that waits for a signal or an approval keeps
the command waiting, unless --no-wait is set.

With --json, each entry of the journal is a line; WorkflowCompleted has the output.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> release.yaml --input version=1.2.0',
    '<%= config.bin %> <%= command.id %> release.yaml release --run-id release-1.2.0',
    '<%= config.bin %> <%= command.id %> release.yaml --detach',
    '<%= config.bin %> <%= command.id %> release.yaml --json | jq -r \'select(.event == "WorkflowCompleted").output\'',
  ]
  static override args = {
    file: Args.string({description: 'Workflow file, YAML or JSON, or - for standard input.', required: true}),
    name: Args.string({description: 'Name of the workflow, if the file has several.'}),
  }
  static override flags = {
    'run-id': Flags.string({description: 'Id of the run. An existing run is continued.', helpValue: 'ID'}),
    input: Flags.string({
      char: 'i',
      description: 'Input of the workflow; values that are not strings are JSON. May be repeated.',
      helpValue: 'NAME=VALUE',
      multiple: true,
      multipleNonGreedy: true,
    }),
    'input-json': Flags.string({
      description: 'All inputs as a JSON object, or - for standard input.',
      helpValue: 'JSON',
    }),
    adopt: Flags.boolean({description: 'Continue an existing run although its definition has changed.'}),
    ...driveFlags,
    detach: Flags.boolean({
      char: 'd',
      description: 'Leave the run to the daemon, and print its id.',
      exclusive: ['adopt'],
    }),
  }

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const {createRun, findWorkflow, inputFromText, readWorkflows, startRun} = await modules.workflows.loadWorkflows()
    const {file, name} = this.args
    const {'run-id': runId, 'input-json': json, adopt, detach} = this.flags
    if (file === '-' && json === '-')
      throw new SvcError('usage', {reason: 'Both the workflow and --input-json are read from standard input.'})
    const [shown, text] = await fileOrInput(file, this.signal)
    const workflow = findWorkflow(await readWorkflows(shown, text), shown, name)
    const input = workflowInputs(
      this.flags.input ?? [],
      json === '-' ? await readTextInput(this.signal) : json,
      (key, text) => inputFromText(workflow, key, text),
    )
    const run = {
      runId,
      input,
      source: text === undefined ? resolve(file) : undefined,
      plan: planOfEnvironment(process.env),
    }
    if (detach) {
      const {run_id} = createRun(orchestrator, workflow, run)
      this.noticeWithoutDaemon(modules, orchestrator)
      return this.output.result({run_id}, () => run_id)
    }
    await this.drive(modules, orchestrator, workflow, async (options) => {
      const started = startRun(orchestrator, workflow, {...run, adopt}, options)
      this.output.notice(`Run ${started.runId}.`)
      return started
    })
  }
}

/** The step of a plan that started this process. */
function planOfEnvironment({
  SVC_PLAN_SESSION_ID: session,
  SVC_PLAN_NODE_ID: node,
  SVC_PLAN_VERSION: version,
}: NodeJS.ProcessEnv) {
  if (!session) return undefined
  const number = Number(version)
  return {
    sessionId: session,
    nodeId: node || undefined,
    version: Number.isSafeInteger(number) && number > 0 ? number : undefined,
  }
}
