import {resolve} from 'node:path'
import type {Interfaces} from '@oclif/core'
import {Flags} from '@oclif/core'
import {type SubmitTaskV1, withoutUndefined} from '../contracts/index.js'
import {inGroup} from './flag-groups.js'
import {nameAndValue} from './name-value.js'
import {taskFlag} from './orch-command.js'
import {durationFlag, momentFlag} from './time-flags.js'

const many = {multiple: true, multipleNonGreedy: true} as const

/** The flags of a single task. A batch specifies these values per task instead. */
export const submissionFlags = {
  file: Flags.string({
    char: 'f',
    description: 'File that the task writes, or only reads with :read; may be repeated.',
    helpValue: 'PATH[:read|write]',
    ...many,
  }),
  key: Flags.string({
    description: 'Idempotency key: submitting again with the same key returns the existing task.',
    helpValue: 'KEY',
  }),
  ...inGroup('execution', {
    processor: Flags.string({
      description:
        'Processor of the task: inference server (ai), command template (exec) or external worker. (default: orchestrator.default_processor)',
      options: ['ai', 'exec', 'external'],
    }),
    exec: Flags.string({
      description: 'Command template to run; implies --processor exec.',
      helpValue: 'TEMPLATE',
    }),
    param: Flags.string({
      description: 'Value for a placeholder of the template; may be repeated.',
      helpValue: 'NAME=VALUE',
      dependsOn: ['exec'],
      ...many,
    }),
    secret: Flags.string({
      description: 'Environment variable of the daemon that --exec needs; may be repeated.',
      helpValue: 'NAME',
      dependsOn: ['exec'],
      ...many,
    }),
    model: Flags.string({description: 'Model to use. (default: selected automatically)', helpValue: 'NAME'}),
    'task-timeout': durationFlag({
      description: 'Maximum duration of a run, such as 10m. (default: the workspace settings)',
      minMs: 1,
      maxMs: 2 ** 31 - 1,
    }),
    retries: Flags.integer({
      description:
        'Maximum number of retries after any failure. (default: only server and connection failures, orchestrator.max_task_retries times)',
      min: 0,
      max: 20,
      helpValue: 'N',
    }),
    'requires-approval': Flags.boolean({
      description: 'Do not queue the task until it is approved with svc orch approve.',
    }),
    after: taskFlag({description: 'Task that must be completed first; may be repeated.', ...many}),
    'not-before': momentFlag({description: 'Earliest start, such as 2026-12-01T08:00 or +2h.'}),
    priority: Flags.string({
      char: 'p',
      description: 'Priority: background, normal or urgent. (default: normal)',
      helpValue: 'PRIORITY',
    }),
  }),
  ...inGroup('placement', {
    agent: Flags.string({
      description: 'Agent to run the task; created if missing. (default: selected automatically)',
      helpValue: 'NAME',
    }),
    role: Flags.string({
      description: 'Role: planner, builder, verifier, reproducer or researcher.',
      helpValue: 'ROLE',
    }),
    skill: Flags.string({description: 'Preferred skill of the agent.', helpValue: 'NAME'}),
    category: Flags.string({description: 'Task category, such as codegen, testing or review.', helpValue: 'NAME'}),
    complexity: Flags.integer({description: 'Complexity from 1 to 10.', min: 1, max: 10, helpValue: 'N'}),
    label: Flags.string({description: 'Required label of the agent; may be repeated.', helpValue: 'LABEL', ...many}),
    'needs-gpu': Flags.boolean({description: 'Require an agent with a CUDA device.'}),
    'prefer-gpu': Flags.boolean({description: 'Prefer agents with a GPU or NPU.'}),
    'min-vram-mb': Flags.integer({description: 'Minimum GPU memory of the agent in MiB.', min: 1, helpValue: 'MIB'}),
    'min-cpu-cores': Flags.integer({description: 'Minimum CPU cores of the agent.', min: 1, helpValue: 'N'}),
    'lost-after': durationFlag({
      description:
        'Time without a heartbeat after which the node that runs the task is lost. (default: orchestrator.mesh_remote_lease_timeout_ms)',
      minMs: 1,
      maxMs: 2 ** 31 - 1,
    }),
    'replace-lost': Flags.boolean({
      description:
        'Wait for another node if the node that runs the task is lost. (default: orchestrator.mesh_remote_replace_lost_worker)',
      allowNo: true,
    }),
    reconcile: Flags.string({
      description:
        'Whose result counts if a lost node returns after another one has started the task: keep_original (the first result) or keep_replacement. (default: orchestrator.mesh_remote_reconcile)',
      options: ['keep_original', 'keep_replacement'],
      helpValue: 'POLICY',
    }),
  }),
  ...inGroup('completion', {
    accept: Flags.string({
      description: 'Acceptance line, a condition that the finished work meets; may be repeated.',
      helpValue: 'TEXT',
      ...many,
    }),
    'harness-spec': Flags.string({
      description:
        'JSON or YAML file with required checks, required artifacts and acceptance lines; - reads standard input.',
      helpValue: 'FILE',
    }),
    'context-envelope': Flags.string({
      description: 'JSON or YAML file with the context envelope of the task; - reads standard input.',
      helpValue: 'FILE',
      exclusive: ['retrieval'],
    }),
    retrieval: Flags.string({
      description:
        'JSON or YAML file with the answer of the retrieval that the task is based on; - reads standard input.',
      helpValue: 'FILE',
      exclusive: ['context-envelope'],
    }),
  }),
  ...inGroup('planning', {
    'planning-mode': Flags.string({
      description:
        'Submit one task (direct), a plan of several tasks (force_plan) or a workflow (workflow_only). (default: auto, as the settings require)',
      options: ['auto', 'direct', 'force_plan', 'workflow_only'],
      helpValue: 'MODE',
    }),
    'goal-type': Flags.string({
      description: 'Type of the goal; recorded with the planning decision.',
      helpValue: 'TYPE',
    }),
    'goal-scope': Flags.string({
      description: 'Scope of the goal; recorded with the planning decision.',
      helpValue: 'SCOPE',
    }),
    'max-plan-depth': Flags.integer({
      description: 'Maximum number of steps in sequence, if the goal is planned.',
      min: 1,
      max: 2000,
      helpValue: 'N',
    }),
  }),
  ...inGroup('id', {
    'session-id': Flags.string({
      description: 'Id of the session that the task belongs to; svc orch tasks can filter by it.',
      helpValue: 'ID',
    }),
    'journey-id': Flags.string({
      description: 'Id of the journey that the task belongs to; stored with the task.',
      helpValue: 'ID',
    }),
    'thread-id': Flags.string({description: 'Id of the conversation; stored with the task.', helpValue: 'ID'}),
    'trace-id': Flags.string({description: 'Trace id for logs and events. (default: generated)', helpValue: 'ID'}),
    'correlation-id': Flags.string({
      description: 'Id of the task in another system; stored with the task.',
      helpValue: 'ID',
    }),
    'tenant-id': Flags.string({description: 'Id of the tenant; stored with the task.', helpValue: 'ID'}),
    'campaign-id': Flags.string({description: 'Id that groups tasks; stored with the task.', helpValue: 'ID'}),
  }),
}

type SubmissionFlags = Partial<Interfaces.InferredFlags<typeof submissionFlags>>

/** Documents that flags name, once they are read. */
interface Documents {
  harness: unknown
  envelope: unknown
  retrieval: unknown
}

/** The task that the flags describe. @throws usage */
export function submissionOf(description: string, flags: SubmissionFlags, documents: Documents): SubmitTaskV1 {
  const needs = withoutUndefined({
    gpu_cuda: flags['needs-gpu'] || undefined,
    prefer_gpu_compute: flags['prefer-gpu'] || undefined,
    min_vram_mb: flags['min-vram-mb'],
    min_cpu_cores: flags['min-cpu-cores'],
    labels: flags.label,
  })
  const hints = withoutUndefined({
    task_category: flags.category,
    complexity: flags.complexity,
    execution_role: flags.role,
    active_skill: flags.skill,
    model_override: flags.model,
    campaign_id: flags['campaign-id'],
    lost_node: ifAny(
      withoutUndefined({
        after_ms: flags['lost-after'],
        replace: flags['replace-lost'],
        reconcile: flags.reconcile as 'keep_original' | 'keep_replacement' | undefined,
      }),
    ),
  })
  return {
    description,
    ...withoutUndefined({
      priority: flags.priority,
      file_manifest: flags.file?.map(manifestEntry),
      depends_on: flags.after,
      target_agent: flags.agent,
      processor: (flags.processor ?? (flags.exec === undefined ? undefined : 'exec')) as SubmitTaskV1['processor'],
      exec:
        flags.exec === undefined
          ? undefined
          : {template: flags.exec, params: params(flags.param), ...withoutUndefined({secrets: flags.secret})},
      capability_requirements: ifAny(needs),
      enqueue_hints: ifAny(hints),
      accept: flags.accept,
      harness_spec_json: JSON.stringify(documents.harness),
      context_envelope_json: JSON.stringify(documents.envelope),
      retrieval: documents.retrieval as SubmitTaskV1['retrieval'],
      requires_approval: flags['requires-approval'] || undefined,
      planning_mode: flags['planning-mode'] as SubmitTaskV1['planning_mode'],
      goal_type: flags['goal-type'],
      goal_scope: flags['goal-scope'],
      max_plan_depth: flags['max-plan-depth'],
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

/** Parses `src/a.ts` or `src/a.ts:read`, relative to the current folder. */
function manifestEntry(value: string): {path: string; access: string} {
  const [, path = value, access = 'write'] = /^(.+):(read|write)$/i.exec(value) ?? []
  return {path: path.trim() === '' ? path : resolve(path), access}
}

/** @throws flag_value */
const params = (values: readonly string[] = []): Record<string, string> =>
  Object.fromEntries(values.map((param) => nameAndValue('--param', param, 'NAME=VALUE')))

const ifAny = <T extends object>(members: T): T | undefined => (Object.keys(members).length === 0 ? undefined : members)
