import {randomUUID} from 'node:crypto'
import {isDeepStrictEqual} from 'node:util'
import {isObject, type ManifestEntry, type SubmitTaskV1, withoutUndefined} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {planExec} from '../../exec/index.js'
import {
  benchmarkTiers,
  executionRoles,
  type Priority,
  type ProcessorName,
  parseCapabilities,
  priorities,
  processorNames,
  taskCategories,
  testDecisions,
  type WorkspaceContext,
} from '../../workspace/index.js'
import type {Correlation, Task} from '../base/task.js'
import {checkEnvelope, maxEnvelopeLength} from '../context/envelope.js'
import {readEvidenceContext} from '../context/evidence-context.js'
import type {TaskRequest} from '../lifecycle/task-rows.js'
import {readTags} from './description-tags.js'
import {readHarness} from './harness.js'
import {normaliseManifest} from './manifest.js'

/** A validated submission, with normalised paths and all defaults filled in. */
export interface NewTask extends Correlation {
  description: string
  priority: Priority
  file_manifest: readonly ManifestEntry[]
  /** Positions, from 0, of dependencies in the same batch. */
  batch_dependencies: readonly number[]
  target_agent?: string
  processor: ProcessorName
  category: Task['category']
  complexity: number
  phase_label: string
  execution_role?: NonNullable<Task['execution_role']>
  idempotency_key?: string
  not_before_ms?: number
  test_decision?: NonNullable<Task['test_decision']>
  request: TaskRequest
  /** The context envelope as JSON text. */
  envelope?: string
  /** Violations of the contract of the envelope, if they are to be recorded. */
  envelope_violations: readonly string[]
}

/** Maximum lengths in characters, as in the contract: a submission may reach this module without being validated. */
export const maxLengths = {
  session_id: 2048,
  journey_id: 2048,
  thread_id: 2048,
  trace_id: 256,
  correlation_id: 256,
  tenant_id: 256,
  campaign_id: 256,
  idempotency_key: 256,
  target_agent: 128,
  model_preference: 256,
  model_override: 512,
  active_skill: 256,
  goal_type: 256,
  goal_scope: 4096,
  harness_spec_json: 262_144,
  context_envelope_json: maxEnvelopeLength,
} as const

/** Maximum length of a retrieval as JSON, in characters. */
const maxRetrievalLength = 262_144
const deepestRetrieval = 64

/** Maximum time until a node is lost, ms. */
const maxLostMs = 2 ** 31 - 1
const reconciliations = ['keep_original', 'keep_replacement'] as const

const maxDescriptionLength = 131_072
const maxFiles = 10_000

/**
 * Reads a submission. Enumerations are case-insensitive, blank strings count as missing, and complexity is clamped to
 * 1 to 10.
 * @param place name of the task in errors: `The task`, or `Task 3 of the batch ("Review it")`
 * @throws task_invalid, task_path_escapes, and the errors of `planExec`
 */
export function readSubmission(
  submission: SubmitTaskV1,
  context: Pick<WorkspaceContext, 'root' | 'config' | 'now'>,
  place = 'The task',
): NewTask {
  const {root, config} = context
  const refuse = (fault: string): never => {
    throw new SvcError('task_invalid', {place, fault})
  }
  const {description, enqueue_hints: hints = {}} = submission
  if (typeof description !== 'string' || description.trim() === '') refuse('its description is blank')
  if (description.length > maxDescriptionLength)
    refuse(`its description has ${description.length} characters; the limit is ${maxDescriptionLength}`)
  const files = filesOf(submission, refuse)
  if (files.length > maxFiles) refuse(`it lists ${files.length} files; the limit is ${maxFiles}`)

  const word = <T extends string>(what: string, value: string | undefined, words: readonly T[]): T | undefined => {
    const asked = text(value)?.toLowerCase()
    if (asked === undefined) return undefined
    return (
      words.find((one) => one === asked) ??
      refuse(`${value} is not a valid ${what}; expected one of: ${words.join(', ')}`)
    )
  }
  for (const [name, value] of Object.entries({...hints, ...submission})) {
    const limit = (maxLengths as Readonly<Record<string, number>>)[name] ?? Number.POSITIVE_INFINITY
    if (typeof value === 'string' && value.length > limit)
      refuse(`its ${name} has ${value.length} characters; the limit is ${limit}`)
  }
  const tags = readTags(description)
  const processor = word('processor', submission.processor, processorNames) ?? config.defaultProcessor
  if (processor === 'exec' && submission.exec === undefined) refuse('an exec task requires a command template')
  if (processor !== 'exec' && submission.exec !== undefined)
    refuse(`an ${processor} task cannot have a command template`)
  const exec = submission.exec === undefined ? undefined : {params: {}, ...submission.exec}
  if (exec !== undefined) planExec({id: 0, description, exec}, {...config.exec, root})
  const manifest = files.map(({path, access}) => ({
    path,
    access: word('access', access, ['read', 'write'] as const) ?? 'read',
  }))
  const role = word('execution role', hints.execution_role, executionRoles)
  const tier = word('benchmark tier', hints.benchmark_tier, benchmarkTiers) ?? known(tags.tier, benchmarkTiers)
  const needed = capabilities(submission, place)
  const harness = readHarness(submission, context, refuse)
  const retrieval = retrievalOf(submission, refuse)
  const envelope = text(submission.context_envelope_json)
  if (envelope !== undefined && retrieval !== undefined)
    refuse('context_envelope_json and retrieval cannot be combined; specify only one of them')
  const violations = envelope === undefined ? [] : checkEnvelope(envelope, context, refuse)

  return {
    description,
    priority: word('priority', submission.priority, priorities) ?? config.defaultPriority,
    file_manifest: normaliseManifest(root, manifest),
    batch_dependencies: [...new Set(submission.temp_deps ?? [])],
    ...withoutUndefined({
      target_agent: text(submission.target_agent),
      execution_role: role,
      not_before_ms: submission.not_before_ms,
      test_decision: word('test decision', submission.test_decision, testDecisions),
    }),
    ...withoutUndefined({envelope}),
    envelope_violations: violations,
    processor,
    category: categoryOf(hints.task_category ?? tags.category),
    complexity: Math.min(10, Math.max(1, Math.round(hints.complexity ?? 5))),
    phase_label: tags.phase,
    trace_id: text(submission.trace_id) ?? text(hints.trace_id) ?? randomUUID().replaceAll('-', ''),
    ...withoutUndefined({
      journey_id: text(submission.journey_id),
      session_id: text(submission.session_id),
      thread_id: text(submission.thread_id) ?? text(hints.thread_id),
      correlation_id: text(submission.correlation_id),
      tenant_id: text(submission.tenant_id) ?? text(hints.tenant_id),
      campaign_id: text(hints.campaign_id) ?? tags.campaign,
      idempotency_key: text(submission.idempotency_key),
    }),
    request: {
      depends_on: [...new Set(submission.depends_on ?? [])],
      tool_hints: unique([...(hints.tool_hints ?? []), ...tags.tools]),
      research_hints: unique([...(hints.research_hints ?? []), ...tags.research]),
      is_detached: hints.is_detached ?? false,
      ...withoutUndefined({
        exec,
        capability_requirements: needed,
        model_preference: text(hints.model_preference),
        model_override: text(hints.model_override),
        benchmark_tier: tier,
        budget: hints.budget,
        lost_node: lostNodeOf(hints.lost_node, refuse),
        active_skill: text(hints.active_skill),
        task_timeout_ms: submission.task_timeout_ms,
        retries: submission.retries,
        harness,
        socrates_context: socratesContextOf(hints.socrates_context, refuse),
        retrieval,
        is_targeted: text(submission.target_agent) === undefined ? undefined : (true as const),
        requires_approval:
          (submission.requires_approval ?? hints.requires_approval) === true ? (true as const) : undefined,
      }),
    },
  }
}

/** The manifest, under either of its names. */
function filesOf({file_manifest: manifest, files}: SubmitTaskV1, refuse: (fault: string) => never) {
  if (manifest !== undefined && files !== undefined && !isDeepStrictEqual(manifest, files))
    refuse('its files and its file_manifest differ; specify only one of them')
  return manifest ?? files ?? []
}

/** @throws task_invalid (by `refuse`) */
function retrievalOf({retrieval}: SubmitTaskV1, refuse: (fault: string) => never) {
  if (retrieval === undefined) return undefined
  if (!isObject(retrieval)) return refuse('its retrieval is not an object')
  // Functions that compare and print values are recursive.
  if (isDeeperThan(retrieval, deepestRetrieval))
    refuse(`its retrieval is nested more than ${deepestRetrieval} levels deep`)
  const {length} = JSON.stringify(retrieval)
  if (length > maxRetrievalLength)
    refuse(`its retrieval has ${length} characters as JSON; the limit is ${maxRetrievalLength}`)
  return retrieval
}

function isDeeperThan(value: unknown, depth: number): boolean {
  let level = [value]
  for (let i = 0; i <= depth && level.length > 0; i++)
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  return level.length > 0
}

/** @throws task_invalid (by `refuse`) */
function lostNodeOf(asked: NonNullable<SubmitTaskV1['enqueue_hints']>['lost_node'], refuse: (fault: string) => never) {
  if (asked === undefined) return undefined
  if (!isObject(asked)) return refuse('its lost_node is not an object')
  const {after_ms, replace, reconcile} = asked
  if (after_ms !== undefined && !(Number.isSafeInteger(after_ms) && after_ms >= 1 && after_ms <= maxLostMs))
    refuse(`its lost_node.after_ms is not an integer from 1 to ${maxLostMs}`)
  if (replace !== undefined && typeof replace !== 'boolean') refuse('its lost_node.replace is not true or false')
  if (reconcile !== undefined && !reconciliations.includes(reconcile))
    refuse(`its lost_node.reconcile is not one of: ${reconciliations.join(', ')}`)
  const policy = withoutUndefined({after_ms, replace, reconcile})
  return Object.keys(policy).length === 0 ? undefined : policy
}

/** @throws task_invalid (by `refuse`) */
function socratesContextOf(asked: unknown, refuse: (fault: string) => never) {
  if (asked === undefined) return undefined
  return isObject(asked) ? readEvidenceContext(asked) : refuse('its socrates_context is not an object')
}

function capabilities({capability_requirements: needed, enqueue_hints: hints}: SubmitTaskV1, place: string) {
  const labels = hints?.required_labels ?? []
  if (needed === undefined && labels.length === 0) return undefined
  try {
    const parsed = parseCapabilities(needed ?? {})
    return {...parsed, labels: unique([...parsed.labels, ...labels])}
  } catch (error) {
    const fault = (error as Error).message.replace(/\.$/, '')
    throw new SvcError('task_invalid', {place, fault}, {cause: error})
  }
}

/** An unknown category counts as general, so that older programs accept newer submissions. */
function categoryOf(name: string | undefined): Task['category'] {
  const asked = name?.trim().toLowerCase().replaceAll(/[_-]/g, '')
  return taskCategories.find((one) => one === asked) ?? 'general'
}

/** Unknown tag values are ignored: the text may mean something else. */
const known = <T extends string>(tag: string | undefined, words: readonly T[]): T | undefined =>
  words.find((one) => one === tag?.toLowerCase())

const text = (value: string | undefined): string | undefined => value?.trim() || undefined

const unique = (items: readonly string[]) => [...new Set(items.map((item) => item.trim()).filter(Boolean))]
