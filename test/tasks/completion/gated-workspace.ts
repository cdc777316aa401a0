import {mkdir, readFile, stat, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import type {TestContext} from 'node:test'
import {setTimeout} from 'node:timers/promises'
import type {SubmitTaskV1} from '../../../src/contracts/index.js'
import {runTemplate} from '../../../src/exec/index.js'
import {applyJudgement, judgeCompletion} from '../../../src/tasks/completion/judgement.js'
import {type Completion, claimTask, completeTask, failTask, submitTask, type Task} from '../../../src/tasks/index.js'
import {startNext} from '../../../src/tasks/lifecycle/dispatch.js'
import {openTestOrchestrator, type TestOrchestrator} from '../../orchestrator/support/open-test-orchestrator.js'

/** Settings that enforce every gate except the behavioral one. */
export const enforced: Readonly<Record<string, string>> = {
  SVC_ORCHESTRATOR_TOESTUB_GATE: 'true',
  SVC_ORCHESTRATOR_HARNESS_COMPLETION_GUARD: 'enforce',
  SVC_ORCHESTRATOR_COMPLETION_MARKDOWN_LINK_AUDIT_ENABLED: 'true',
  SVC_ORCHESTRATOR_COMPLETION_GROUNDING_ENFORCE: 'true',
  SVC_ORCHESTRATOR_SOCRATES_GATE_ENFORCE: 'true',
}

/** Command templates that are quick to run: `test` succeeds if the file `broken` does not exist. */
const templates = (timeoutMs: number) => `
[orchestrator.exec]
enabled = true
timeout_ms = ${timeoutMs}

[orchestrator.exec.templates]
test = ["sh", "-c", "test ! -e broken && echo 12 tests passed"]
lint = ["sh", "-c", "test ! -e unclean && echo no problems"]
fail = ["sh", "-c", "echo expected 4, got 5; exit 3"]
hang = ["sleep", "60"]
gone = ["no-such-program"]
`

export type Claimed = Pick<Task, 'id'> & {generation: number}
export type Result = {text: string; [member: string]: unknown}
export type GatedWorkspace = Awaited<ReturnType<typeof gatedWorkspace>>

export interface GatedOptions {
  /** Settings of the table `orchestrator`. */
  toml?: string
  env?: Readonly<Record<string, string>>
  /** Maximum duration of a command. */
  timeoutMs?: number
  /** More command templates. */
  templates?: string
  /** Path of the settings of the user. */
  userConfig?: string
}

/**
 * Waits until a file can no longer count as written by a task that is claimed now. The kernel rounds the times of files
 * down to its clock tick, so a change shortly before a claim counts as the task's.
 */
async function untilOlderThanAClaim(path: string): Promise<void> {
  const {ctimeMs} = await stat(path)
  await setTimeout(Math.max(0, ctimeMs + 20 - Date.now()))
}

/** A workspace with command templates on a real clock, and functions that work as a client and as the daemon. */
export async function gatedWorkspace(
  t: Pick<TestContext, 'after'>,
  {toml = '', env = {}, timeoutMs = 60_000, templates: more = '', userConfig}: GatedOptions = {},
) {
  const orchestrator = await openTestOrchestrator(t, {
    toml: `[orchestrator]\ndefault_processor = "external"\n${toml}${templates(timeoutMs)}${more}`,
    env,
    ...(userConfig === undefined ? {} : {userConfig}),
    clock: 'real',
  })
  const {root} = orchestrator
  await untilOlderThanAClaim(join(root, 'Svc.toml'))
  return {
    orchestrator,
    root,
    async write(path: string, text: string | Uint8Array): Promise<void> {
      await mkdir(dirname(join(root, path)), {recursive: true})
      await writeFile(join(root, path), text)
    },
    read: (path: string): Promise<string> => readFile(join(root, path), 'utf8'),
    /** Submits a task and claims it. @param files that the task writes */
    async claim(files: readonly string[] = [], submission: Partial<SubmitTaskV1> = {}): Promise<Claimed> {
      const {task_id} = submitTask(orchestrator, {
        description: 'Do the work',
        file_manifest: files.map((path) => ({path, access: 'write'})),
        ...submission,
      })
      return {id: task_id, generation: (await claimAgain(orchestrator, task_id)).generation}
    },
    claimAgain: (id: number): Promise<Claimed> => claimAgain(orchestrator, id),
    complete: ({id, generation}: Claimed, result?: Result): Promise<Completion> =>
      completeTask(orchestrator, id, result, {generation}),
    /** Runs a template as a task, as the daemon does. */
    runCheck: (template: string): Promise<Completion | Task> => runCheck(orchestrator, template),
  }
}

async function claimAgain(orchestrator: TestOrchestrator, id: number): Promise<Claimed> {
  for (;;) {
    const {task, generation} = await claimTask(orchestrator, {owner: 'worker', ttlMs: 600_000})
    if (task.id === id) return {id, generation}
    throw new Error(`claimed ${task.display_id} instead`)
  }
}

async function runCheck(orchestrator: TestOrchestrator, template: string): Promise<Completion | Task> {
  const {task_id: id, agent_id} = submitTask(orchestrator, {
    description: `Run ${template}`,
    processor: 'exec',
    exec: {template},
  })
  const started = orchestrator.store.transaction(() => startNext(orchestrator, agent_id, {owner: 'daemon:1'}))
  if (started?.task.id !== id) throw new Error(`the task of ${template} did not start`)
  const {generation, task} = started
  const {root, config} = orchestrator
  const end = await runTemplate(task, {root, ...config.exec, env: process.env}, new AbortController().signal)
  const stdout = end.output.text('stdout')
  if (end.failure !== undefined)
    return failTask(orchestrator, id, `${template} ${end.failure}`, {generation, isFinal: true})
  const result = {text: stdout.trim(), exit_code: end.exitCode, stdout}
  const judged = await judgeCompletion(orchestrator, id, result, {generation})
  return orchestrator.store.transaction(() => applyJudgement(orchestrator, judged))
}
