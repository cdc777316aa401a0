import type {SubmitTaskV1} from '../contracts/index.js'
import type {PlanRow} from './plan-rows.js'

type Hints = NonNullable<SubmitTaskV1['enqueue_hints']>

/** Members of a submission that only a single task can have: a plan of several tasks cannot satisfy them. */
const single = [
  'exec',
  'temp_deps',
  'idempotency_key',
  'not_before_ms',
  'accept',
  'harness_spec_json',
  'context_envelope_json',
  'retrieval',
  'test_decision',
] as const satisfies readonly (keyof SubmitTaskV1)[]
const singleHints = ['harness_spec_json', 'socrates_context'] as const satisfies readonly (keyof Hints)[]

/** Names of the members of a submission that prevent a plan of its goal. */
export const singleTaskMembers = (submission: SubmitTaskV1): string[] => [
  ...single.filter((name) => submission[name] !== undefined),
  ...singleHints.filter((name) => submission.enqueue_hints?.[name] !== undefined),
]

/** What the tasks of a plan take over from the submission of its goal. */
export type CarriedSubmission = Pick<
  SubmitTaskV1,
  | 'priority'
  | 'processor'
  | 'depends_on'
  | 'target_agent'
  | 'capability_requirements'
  | 'requires_approval'
  | 'task_timeout_ms'
  | 'retries'
  | 'journey_id'
  | 'trace_id'
  | 'correlation_id'
> & {enqueue_hints?: Omit<Hints, 'task_category' | 'complexity' | 'execution_role' | 'thread_id' | 'requires_approval'>}

/** The plan and each of its steps have these members of their own. */
export function carriedOf(submission: SubmitTaskV1): CarriedSubmission {
  const {description, file_manifest, files, session_id, thread_id, tenant_id, ...rest} = submission
  const {planning_mode, goal_type, goal_scope, max_plan_depth, enqueue_hints, ...carried} = rest
  if (enqueue_hints === undefined) return carried
  const {task_category, complexity, execution_role, thread_id: _, requires_approval, ...hints} = enqueue_hints
  return {
    ...carried,
    ...(requires_approval === undefined ? {} : {requires_approval}),
    enqueue_hints: hints,
  }
}

export const carriedBy = ({submission_json: json}: PlanRow): CarriedSubmission =>
  json === null ? {} : (JSON.parse(json) as CarriedSubmission)
