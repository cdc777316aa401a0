import {resolve} from 'node:path'
import {Args, Flags} from '@oclif/core'
import {
  acceptedLine,
  durationFlag,
  momentFlag,
  notCompleted,
  OrchCommand,
  readInput,
  taskFlag,
  taskLine,
} from '../../src/cli/index.js'
import type {SubmitTaskV1} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'
import type {WorkspaceModules} from '../../src/operations/index.js'
import type {Orchestrator} from '../../src/orchestrator/index.js'
import type {Accepted, Task} from '../../src/tasks/index.js'

/** Larger batches are submitted in parts. */
const maxBatchBytes = 256 << 20

const many = {multiple: true, multipleNonGreedy: true} as const

/** What one task asks for: a batch says it for each of its own. */
const taskFlags = {
  file: Flags.string({
    char: 'f',
    description: 'A file that the task writes, or with :read only reads; may be repeated.',
    helpValue: 'PATH[:read|write]',
    ...many,
  }),
  priority: Flags.string({char: 'p', description: 'background, normal or urgent.', helpValue: 'PRIORITY'}),
  agent: Flags.string({description: 'Name of its agent, who is spawned where there is none.', helpValue: 'NAME'}),
  processor: Flags.string({
    description: 'What runs it: the inference server, a command template, or a client that claims it.',
    options: ['ai', 'exec', 'external'],
  }),
  exec: Flags.string({
    description: 'Command template of the workspace that runs it; implies --processor exec.',
    helpValue: 'TEMPLATE',
  }),
  param: Flags.string({
    description: 'Value of a placeholder of the template; may be repeated.',
    helpValue: 'NAME=VALUE',
    dependsOn: ['exec'],
    ...many,
  }),
  after: taskFlag({description: 'A task that must be completed first; may be repeated.', ...many}),
  key: Flags.string({description: 'Submitted again under the same key, it is the same task.', helpValue: 'KEY'}),
  category: Flags.string({description: 'Kind of work, such as codegen, testing or review.', helpValue: 'NAME'}),
  complexity: Flags.integer({description: 'From 1 to 10.', min: 1, max: 10, helpValue: 'N'}),
  role: Flags.string({
    description: 'planner, builder, verifier, reproducer or researcher.',
    helpValue: 'ROLE',
  }),
  skill: Flags.string({description: 'Skill that its agent should have.', helpValue: 'NAME'}),
  model: Flags.string({description: 'Model that must be asked.', helpValue: 'NAME'}),
  'needs-gpu': Flags.boolean({description: 'Only agents with a CUDA device.'}),
  'prefer-gpu': Flags.boolean({description: 'Rather agents with an accelerator.'}),
  'min-vram-mb': Flags.integer({description: 'MiB of GPU memory that its agent must have.', min: 1, helpValue: 'MIB'}),
  'min-cpu-cores': Flags.integer({description: 'CPU cores that its agent must have.', min: 1, helpValue: 'N'}),
  label: Flags.string({description: 'Label that its agent must have; may be repeated.', ...many}),
  'requires-approval': Flags.boolean({description: 'Wait for svc orch approve before it is queued.'}),
  'task-timeout': durationFlag({
    description: 'End a run of it after this time, in the place of the limits of the workspace.',
    leastMs: 1,
    longestMs: 2 ** 31 - 1,
  }),
  retries: Flags.integer({
    description: 'Run it again after a failure, at most so many times; without it max_task_retries counts.',
    min: 0,
    max: 20,
    helpValue: 'N',
  }),
  'not-before': momentFlag({description: 'Keep it queued until then: 2026-12-01T08:00, or +2h from now.'}),
  'session-id': Flags.string({description: 'Session that it belongs to.', helpValue: 'ID'}),
  'journey-id': Flags.string({description: 'Journey that it belongs to.', helpValue: 'ID'}),
  'thread-id': Flags.string({description: 'Thread of a conversation that it belongs to.', helpValue: 'ID'}),
  'trace-id': Flags.string({description: 'Trace that it belongs to; made up when left out.', helpValue: 'ID'}),
  'correlation-id': Flags.string({description: 'Id that other systems know it by.', helpValue: 'ID'}),
  'tenant-id': Flags.string({description: 'Tenant that it belongs to.', helpValue: 'ID'}),
  'campaign-id': Flags.string({description: 'Campaign that it belongs to.', helpValue: 'ID'}),
}

export default class OrchSubmit extends OrchCommand<typeof OrchSubmit> {
  static override summary = 'Submit a task, or a batch of tasks.'
  static override description =
    `Prints the id of the task alone, so that a script can keep it. The task is in the store when the command ends; it runs
while svc daemon run runs in the workspace.

A batch is a JSON array, or one JSON object per line, of tasks as the contract orchestration/submit-task.v1 describes
them, their files relative to the root of the workspace. All of them are submitted, or none; one line is printed per task.

A failed task is run again up to --retries times, after a pause that doubles each time. A failure is an exit status other
than 0, a run longer than --task-timeout, or a server that does not answer; a missing template is not retried. A task with
--not-before stays queued until then, also across restarts of the daemon, and reserves no files.

With --wait the command ends when the task is over, prints it, and fails with 1 unless it was completed. A task that is
doubted or waits for approval is not over. SIGINT ends the waiting, not the task: svc orch task ID --wait waits for it
again.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> "Add retry to the client" -f src/client.ts -f README.md:read -p urgent',
    'id=$(<%= config.bin %> <%= command.id %> "Run the tests" --exec test --param dir=src)',
    '<%= config.bin %> <%= command.id %> "Review it" --after $id --wait --timeout 600',
    'git diff | <%= config.bin %> <%= command.id %> - --category review --json',
    '<%= config.bin %> <%= command.id %> "Build it" --exec build --task-timeout 10m --retries 2 --not-before +2h',
    '<%= config.bin %> <%= command.id %> --batch tasks.jsonl',
  ]
  static override args = {
    description: Args.string({description: 'What is to be done; - reads it from standard input.'}),
  }
  static override flags = {
    ...taskFlags,
    batch: Flags.string({
      description: 'Submit the tasks of this file, - for standard input, all or none.',
      helpValue: 'FILE',
      exclusive: Object.keys(taskFlags),
    }),
    wait: Flags.boolean({description: 'Wait until it is over.'}),
    timeout: Flags.integer({
      description: 'With --wait: wait no longer; fails with 5.',
      min: 1,
      max: 1_000_000,
      helpValue: 'SECONDS',
      dependsOn: ['wait'],
    }),
  }

  async run(): Promise<void> {
    const {batch, wait} = this.flags
    const submissions = batch === undefined ? [await this.#task()] : await this.#readBatch(batch)
    // What flags say has the shape of the contract already; a batch comes from anywhere.
    if (batch !== undefined) {
      const {taskOfBatch} = await import('../../src/tasks/index.js')
      for (const [i, submission] of submissions.entries()) await check(submission, taskOfBatch(i, submission))
    }
    const {modules, orchestrator} = await this.open()
    const accepted =
      batch === undefined
        ? submissions.map((submission) => modules.tasks.submitTask(orchestrator, submission))
        : modules.tasks.submitBatch(orchestrator, submissions)
    const isBatch = batch !== undefined
    if (wait) await this.#wait(modules, orchestrator, accepted, isBatch)
    else await this.#print(accepted, isBatch)
  }

  async #print(accepted: readonly Accepted[], isBatch: boolean): Promise<void> {
    for (const one of accepted) {
      if (!isBatch) this.output.notice(acceptedLine(one))
      await this.output.line(one, one.display_id)
    }
    if (isBatch) this.output.notice(`${accepted.length} tasks submitted.`)
  }

  /** Waits for each in its turn, and fails with the first one that did not end well. */
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
    const {description: given} = this.args
    if (given === undefined) throw new SvcError('usage', {reason: 'Say what is to be done, or name a --batch.'})
    const description = await this.textOf(given)
    if (description.trim() === '')
      throw new SvcError('task_invalid', {place: 'The task', fault: 'its description is blank'})
    const {flags} = this
    const needs = defined({
      gpu_cuda: flags['needs-gpu'] || undefined,
      prefer_gpu_compute: flags['prefer-gpu'] || undefined,
      min_vram_mb: flags['min-vram-mb'],
      min_cpu_cores: flags['min-cpu-cores'],
      labels: flags.label,
    })
    const hints = defined({
      task_category: flags.category,
      complexity: flags.complexity,
      execution_role: flags.role,
      active_skill: flags.skill,
      model_override: flags.model,
      campaign_id: flags['campaign-id'],
    })
    return {
      description,
      ...defined({
        priority: flags.priority,
        file_manifest: flags.file?.map(manifestEntry),
        depends_on: flags.after,
        target_agent: flags.agent,
        processor: (flags.processor ?? (flags.exec === undefined ? undefined : 'exec')) as SubmitTaskV1['processor'],
        exec: flags.exec === undefined ? undefined : {template: flags.exec, params: params(flags.param)},
        capability_requirements: ifAny(needs),
        enqueue_hints: ifAny(hints),
        requires_approval: flags['requires-approval'] || undefined,
        task_timeout_ms: flags['task-timeout'],
        retries: flags.retries,
        not_before_ms: flags['not-before'],
        session_id: flags['session-id'],
        journey_id: flags['journey-id'],
        thread_id: flags['thread-id'],
        trace_id: flags['trace-id'],
        correlation_id: flags['correlation-id'],
        tenant_id: flags['tenant-id'],
        idempotency_key: flags.key,
      }),
    }
  }

  async #readBatch(path: string): Promise<SubmitTaskV1[]> {
    if (this.args.description !== undefined)
      throw new SvcError('usage', {reason: 'A batch says what is to be done; leave the description out.'})
    const text = (await readInput(path, this.signal, maxBatchBytes)).toString('utf8').replace(/^\uFEFF/, '')
    if (text.trimStart().startsWith('[')) return parse(text, 'it') as SubmitTaskV1[]
    const lines = text.split('\n').map((line, i) => ({line, number: i + 1}))
    return lines
      .filter(({line}) => line.trim() !== '')
      .map(({line, number}) => parse(line, `its line ${number}`) as SubmitTaskV1)
  }
}

/** @throws task_invalid */
function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = (error as Error).message.replaceAll('\n', ' ')
    throw new SvcError('task_invalid', {place: 'The batch', fault: `${what} is not JSON (${reason})`}, {cause: error})
  }
}

/** @throws task_invalid with all that does not fit the contract */
async function check(submission: SubmitTaskV1, place: string): Promise<void> {
  const {contractViolations} = await import('../../src/contracts/index.js')
  const violations = await contractViolations('orchestration/submit-task.v1', submission)
  if (violations.length > 0) throw new SvcError('task_invalid', {place, fault: violations.join('; ')})
}

/** `src/a.ts`, `src/a.ts:read`: taken from the current folder. */
function manifestEntry(given: string): {path: string; access: string} {
  const [, path = given, access = 'write'] = /^(.+):(read|write)$/i.exec(given) ?? []
  return {path: path.trim() === '' ? path : resolve(path), access}
}

/** @throws usage */
function params(given: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    given.map((param) => {
      const at = param.indexOf('=')
      if (at < 1) throw new SvcError('usage', {reason: `--param takes NAME=VALUE, not ${JSON.stringify(param)}.`})
      return [param.slice(0, at), param.slice(at + 1)]
    }),
  )
}

/** Members that have a value. */
const defined = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

const ifAny = <T extends object>(members: T): T | undefined => (Object.keys(members).length === 0 ? undefined : members)
