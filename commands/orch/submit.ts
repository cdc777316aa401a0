import {Args, Flags} from '@oclif/core'
import {
  acceptedLine,
  inGroup,
  notCompleted,
  OrchCommand,
  readInput,
  submissionFlags,
  submissionOf,
  taskLine,
} from '../../src/cli/index.js'
import type {SubmitTaskV1} from '../../src/contracts/index.js'
import {command, counted, SvcError} from '../../src/errors/index.js'
import {parseExactJson} from '../../src/files/index.js'
import type {OperationBase, Submitted, WorkspaceModules} from '../../src/operations/index.js'
import type {Orchestrator} from '../../src/orchestrator/index.js'
import type {Accepted, Task, TaskGraph} from '../../src/tasks/index.js'

/** Maximum size of a batch. */
const maxBatchBytes = 256 << 20

export default class OrchSubmit extends OrchCommand<typeof OrchSubmit> {
  static override summary = 'Submit a task or a batch of tasks.'
  static override description =
    `Prints only the task id to standard output, for use in scripts. The task is stored before the command exits; the daemon
runs it.

A batch is a JSON array, or one JSON object per line. Its tasks match the contract orchestration/submit-task.v1, with
files relative to the workspace root. All tasks are submitted, or none if a task is invalid. Prints one line per task.

--dag submits several tasks for one goal, all or none, and prints one line per task. The tasks of coding run one after
the other; --accept and --harness-spec apply to the last task of a graph.

A harness specification matches the contract orchestration/harness-spec.v1, a context envelope the contract
orchestration/context-envelope.v1. Required checks are command templates whose only placeholders are {task_id},
{description} and {root}. The files must be JSON if they are read from standard input.

With --retries, a failed task is retried with a delay that doubles each time. Failures include a non-zero exit status, a
run longer than --task-timeout and an unavailable server. A missing template is not retried. A task with --not-before
stays queued until then, even if the daemon restarts, and locks no files.

With --planning-mode force_plan, the goal is broken into steps, and the first step is submitted; prints the id of its
task. With auto, orchestrator.planning_router_enabled decides which goals are planned. A plan cannot have a command
template, an idempotency key, acceptance lines, a harness, a context envelope or a time of start.

--wait waits until the task is finished and prints it. The exit status is 1 if the task was not completed. Doubted tasks
and tasks that wait for approval do not count as finished. SIGINT stops waiting, but not the task; to wait again, run
svc orch task ID --wait.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> "Add retry to the client" -f src/client.ts -f README.md:read -p urgent',
    'id=$(<%= config.bin %> <%= command.id %> "Run the tests" --exec test --param dir=src)',
    '<%= config.bin %> <%= command.id %> "Review it" --after $id --wait --timeout 600',
    'git diff | <%= config.bin %> <%= command.id %> - --category review --json',
    '<%= config.bin %> <%= command.id %> "Build it" --exec build --task-timeout 10m --retries 2 --not-before +2h',
    '<%= config.bin %> <%= command.id %> "Fix the parser" --accept "Empty input returns []" --harness-spec harness.json',
    '<%= config.bin %> <%= command.id %> --batch tasks.jsonl',
  ]
  static override args = {
    description: Args.string({description: 'Task description; - reads standard input.'}),
  }
  static override flags = {
    ...submissionFlags,
    batch: Flags.string({
      description: 'File with a batch of tasks; - reads standard input.',
      helpValue: 'FILE',
      exclusive: Object.keys(submissionFlags),
    }),
    wait: Flags.boolean({description: 'Wait until the task is finished.'}),
    timeout: Flags.integer({
      description: 'Maximum time that --wait waits; exits with status 5 on timeout.',
      min: 1,
      max: 1_000_000,
      helpValue: 'SECONDS',
      dependsOn: ['wait'],
    }),
    ...inGroup('planning', {
      dag: Flags.string({
        description:
          'Submit a graph of tasks: plan, draft, critique and repair (coding), or --shards generators and validators (shard).',
        options: ['coding', 'shard'],
        helpValue: 'GRAPH',
        exclusive: ['batch', 'planning-mode'],
      }),
      shards: Flags.integer({
        description: 'Number of generators of --dag shard; the files are divided among them.',
        min: 1,
        max: 500,
        helpValue: 'N',
        dependsOn: ['dag'],
      }),
    }),
  }

  protected override get whenUnread() {
    // The exit status of a wait is that of the task.
    return 'finishes' as const
  }

  async run(): Promise<void> {
    const {batch, wait} = this.flags
    const submissions = batch === undefined ? [await this.#task()] : await this.#readBatch(batch)
    // Submissions from flags always match the contract; those of a batch must be checked.
    if (batch !== undefined) {
      const {taskOfBatch} = await import('../../src/tasks/index.js')
      for (const [i, submission] of submissions.entries()) await check(submission, taskOfBatch(i, submission))
    }
    const base = await this.openOperations('cli')
    const {modules, orchestrator} = base
    const isBatch = batch !== undefined || this.flags.dag !== undefined
    const submitted = await this.#submit(base, submissions)
    const accepted = submitted.filter((each) => 'task_id' in each)
    this.#noteUnenforced(submissions, orchestrator)
    for (const {display_id: id, conflict_warnings: warnings = []} of accepted)
      for (const warning of warnings) this.output.notice(`warning: ${id}: ${warning}`)
    for (const each of submitted) await this.#printPlan(each)
    if (wait) await this.#wait(modules, orchestrator, accepted, isBatch)
    else await this.#print(accepted, isBatch)
  }

  async #submit(base: OperationBase, submissions: readonly SubmitTaskV1[]): Promise<Submitted[]> {
    const {modules, orchestrator} = base
    const {batch, dag, shards} = this.flags
    const [task] = submissions
    if (batch !== undefined || task === undefined) return modules.tasks.submitBatch(orchestrator, submissions)
    if (dag === undefined) return [await this.#submitGoal(base, task)]
    return modules.tasks.submitGraph(orchestrator, {graph: dag as TaskGraph, task, shards})
  }

  async #submitGoal(base: OperationBase, submission: SubmitTaskV1): Promise<Submitted> {
    const {modules, orchestrator} = base
    // Most submissions are single tasks and do not need the operations, which take time to load.
    if (modules.plans.routeGoal(orchestrator, submission) === undefined)
      return modules.delegation.awaitPlacement(
        orchestrator,
        modules.tasks.submitTask(orchestrator, submission),
        this.signal,
      )
    const {submitGoal} = await import('../../src/operations/index.js')
    return submitGoal(submission, {
      ...base,
      signal: this.signal,
      report: () => {},
      notice: (text) => this.output.notice(text),
      ask: undefined,
    })
  }

  /** Reports the plan that was made of a goal. */
  async #printPlan(submitted: Submitted): Promise<void> {
    if (!('plan_session_id' in submitted)) return
    const {plan_session_id: plan} = submitted
    if ('strategy' in submitted) {
      await this.output.line(submitted, plan)
      this.output.notice(`${plan} was handed to a workflow.`)
    } else
      this.output.notice(
        `This is the first task of ${plan}. To follow the plan, run ${command`svc orch plan status ${plan}`}.`,
      )
  }

  /** Prints a notice if a task has a harness that the settings do not enforce. */
  #noteUnenforced(submissions: readonly SubmitTaskV1[], {config}: Orchestrator): void {
    if (config.harnessCompletionGuard !== 'off' || !submissions.some(hasHarness)) return
    this.output.notice(
      'notice: Acceptance lines and required checks are recorded but not enforced. To enforce them, set ' +
        'harness_completion_guard = "enforce" under [orchestrator] in Svc.toml.',
    )
  }

  async #print(accepted: readonly Accepted[], isBatch: boolean): Promise<void> {
    for (const one of accepted) {
      if (!isBatch) this.output.notice(acceptedLine(one))
      await this.output.line(one, one.display_id)
    }
    if (isBatch) this.output.notice(`${counted(accepted.length, 'task')} submitted.`)
  }

  /** Waits for the tasks one after another. @throws task_not_successful for the first task that was not completed */
  async #wait(modules: WorkspaceModules, orchestrator: Orchestrator, accepted: readonly Accepted[], isBatch: boolean) {
    const {timeout: seconds} = this.flags
    const limit = seconds === undefined ? undefined : {seconds, fromMs: performance.now()}
    for (const one of accepted) this.output.notice(acceptedLine(one))
    const tasks = accepted.map(({task_id: id}) => modules.tasks.requireTask(orchestrator, id))
    this.warnWithoutDaemon(modules, orchestrator, tasks)
    let failed: Task | undefined
    for (const submitted of tasks) {
      const task = await this.waitFor(modules, orchestrator, submitted, limit)
      if (!isBatch) return this.printEnd(task, modules)
      if (task.status !== 'Completed') failed ??= task
      await this.output.line(task, taskLine(task))
    }
    if (failed !== undefined) throw notCompleted(failed)
  }

  async #task(): Promise<SubmitTaskV1> {
    if (this.args.description === undefined)
      throw new SvcError('usage', {reason: 'Missing task description. Pass it as an argument, or use --batch.'})
    this.#requireOneReader()
    const description = await this.textOf(this.args.description)
    if (description.trim() === '')
      throw new SvcError('task_invalid', {place: 'The task', fault: 'its description is empty'})
    const {'harness-spec': harness, 'context-envelope': envelope, retrieval} = this.flags
    return submissionOf(description, this.flags, {
      harness: await this.#readDocument(harness),
      envelope: await this.#readDocument(envelope),
      retrieval: await this.#readDocument(retrieval),
    })
  }

  /** Only one value can be read from standard input. @throws usage */
  #requireOneReader(): void {
    const {'harness-spec': spec, 'context-envelope': envelope, retrieval} = this.flags
    const readers = Object.entries({
      'the description': this.args.description,
      '--harness-spec': spec,
      '--context-envelope': envelope,
      '--retrieval': retrieval,
    }).flatMap(([name, value]) => (value === '-' ? [name] : []))
    if (readers.length > 1)
      throw new SvcError('usage', {reason: `Only one of ${readers.join(' and ')} can read standard input.`})
  }

  /** @throws document_unparsable and the errors of `readInput` */
  async #readDocument(path: string | undefined): Promise<unknown> {
    if (path === undefined) return undefined
    const {readDocument} = await import('../../src/contracts/index.js')
    const text = (await readInput(path, this.signal)).toString('utf8').replace(/^\uFEFF/, '')
    return readDocument(text, path === '-' ? 'standard input' : path)
  }

  async #readBatch(path: string): Promise<SubmitTaskV1[]> {
    if (this.args.description !== undefined)
      throw new SvcError('usage', {reason: 'A description cannot be combined with --batch.'})
    const text = (await readInput(path, this.signal, maxBatchBytes)).toString('utf8').replace(/^\uFEFF/, '')
    if (text.trimStart().startsWith('[')) return parse(text, 'the array') as SubmitTaskV1[]
    const lines = text.split('\n').map((line, i) => ({line, number: i + 1}))
    return lines
      .filter(({line}) => line.trim() !== '')
      .map(({line, number}) => parse(line, `line ${number}`) as SubmitTaskV1)
  }
}

const hasHarness = ({accept = [], harness_spec_json: spec, enqueue_hints: hints}: SubmitTaskV1): boolean =>
  accept.length > 0 || spec !== undefined || hints?.harness_spec_json !== undefined

/** @throws task_invalid */
function parse(text: string, what: string): unknown {
  try {
    return parseExactJson(text)
  } catch (error) {
    const reason = (error as Error).message.replaceAll('\n', ' ')
    throw new SvcError(
      'task_invalid',
      {place: 'The batch', fault: `${what} cannot be read as JSON: ${reason}`},
      {cause: error},
    )
  }
}

/** @throws task_invalid with all contract violations */
async function check(submission: SubmitTaskV1, place: string): Promise<void> {
  const {contractViolations} = await import('../../src/contracts/index.js')
  const violations = await contractViolations('orchestration/submit-task.v1', submission)
  if (violations.length > 0) throw new SvcError('task_invalid', {place, fault: violations.join('; ')})
}
