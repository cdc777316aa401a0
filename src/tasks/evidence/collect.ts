import type {ManifestEntry} from '../../contracts/index.js'
import {confidencePolicy, scanConfidence, type WorkspaceContext} from '../../workspace/index.js'
import {capabilitiesOf} from '../agents/agent-rows.js'
import {completionTrustOf, reliabilityOfAgent} from '../agents/trust.js'
import type {Finding} from '../base/finding.js'
import {displayTask} from '../base/ids.js'
import type {TaskResult} from '../base/task.js'
import {evidenceContextOf} from '../context/evidence-context.js'
import {noHarness} from '../gates/dropped-items.js'
import type {Attestation, CheckResult, CompletionEvidence, Harness, ObservedFile} from '../gates/evidence.js'
import {boundNames} from '../gates/harness-state.js'
import {type TaskRow, toTask} from '../lifecycle/task-rows.js'
import {normalisePath} from '../submission/manifest.js'
import {attestationOf} from './attestation.js'
import {type CheckRun, observedChecks, ownCheck, runChecks} from './checks.js'
import {readBaseline, readEvaluation} from './evidence-rows.js'
import type {Inspected} from './inspect.js'
import {inspectFiles} from './inspector.js'

/** Evidence with the time from which it was collected. */
export interface Collected {
  evidence: CompletionEvidence
  /** Start of the work: the first claim of the task, Unix ms. */
  sinceMs: number
}

/**
 * Collects everything that the gates judge for a task in progress. Files are read in a thread.
 * @param result what the agent or the processor returned
 * @param runsChecks runs the checks of the behavioral gate; otherwise their results are missing
 * @throws the reason of the signal
 */
export async function collectEvidence(
  context: WorkspaceContext,
  row: TaskRow,
  result: TaskResult | undefined,
  {runsChecks = false, ...run}: CheckRun & {runsChecks?: boolean} = {},
): Promise<Collected> {
  const {config} = context
  const task = {...toTask(row), ...(result === undefined ? {} : {result})}
  const attestation = row.processor === 'external' ? attestationOf(context.root, result) : {}
  const harness = task.harness ?? noHarness
  const sinceMs = workStart(context, row)
  // Checks may write files, so they run before files are inspected.
  const verified =
    runsChecks && config.behavioralGateOnComplete
      ? await runChecks(context, task, config.behavioralGateCommand, run)
      : []
  const {files, observations} = await observeFiles(context, row, {attestation, harness, sinceMs}, run.signal)
  const {context: sources, envelopeText} = evidenceContextOf(context, row)
  const standing = completionTrustOf(context, row.agent_name, row.phase_label)
  return {
    sinceMs,
    evidence: {
      task,
      attestation,
      summary: result?.text ?? '',
      files,
      observations,
      checks: [...verified, ...otherChecks(context, task, {attestation, harness, sinceMs})],
      harness,
      context: sources,
      envelopeText,
      reliability: reliabilityOfAgent(context, row.agent_name),
      completionTrust: standing,
      approval_tier: row.approval_tier ?? undefined,
      approvals: approvalsOf(context, row.id),
      worker: row.claim_owner ?? undefined,
      blocksLowConfidence: blocksLowConfidence(context, row.agent_id),
      policy: confidencePolicy(config.socratesPolicy),
      config,
    },
  }
}

/** The first claim of the task. Later claims continue its work, so what was written in between counts as its work. */
function workStart(context: WorkspaceContext, {id, started_at_ms: started}: TaskRow): number {
  const known = readEvaluation<{since_ms: number}>(context, id)?.since_ms ?? readBaseline(context, id)?.taken_at_ms
  return known ?? started ?? context.now()
}

interface Claims {
  attestation: Attestation
  harness: Harness
  sinceMs: number
}

function otherChecks(
  context: WorkspaceContext,
  task: CompletionEvidence['task'],
  {attestation, harness, sinceMs}: Claims,
): CheckResult[] {
  const reported = attestation.checks_passed ?? []
  const named = [
    ...harness.required_checks.map(({check}) => check),
    ...harness.accept.flatMap((line) => boundNames(line, 'check')),
    ...(attestation.acceptance ?? []).flatMap(({check}) => check ?? []),
    ...reported,
  ]
  return [
    ...ownCheck(task),
    ...observedChecks(context, [...new Set(named)], sinceMs),
    ...reported.map((check): CheckResult => ({check, grade: 'reported', passed: true})),
  ]
}

interface Observed {
  files: ObservedFile[]
  observations: Finding[]
}

/** Maximum number of unattributed changes to name. */
const maxNamed = 20

async function observeFiles(
  context: WorkspaceContext,
  row: TaskRow,
  {attestation, harness, sinceMs}: Claims,
  signal: AbortSignal | undefined,
): Promise<Observed> {
  const {root} = context
  const writes = (JSON.parse(row.file_manifest) as ManifestEntry[]).flatMap(({path, access}) =>
    access === 'write' ? [path] : [],
  )
  const named = [
    ...(attestation.artifact_paths ?? []),
    ...(attestation.acceptance ?? []).flatMap(({file}) => file ?? []),
    ...harness.accept.flatMap((line) => boundNames(line, 'file')),
    ...harness.required_artifacts,
  ].filter((path) => !isPattern(path))
  const observations: Finding[] = []
  const listedByAgent = named.flatMap((path) => {
    try {
      return [normalisePath(root, path)]
    } catch {
      observations.push({
        rule: 'evidence/outside-workspace',
        severity: 'error',
        message: `${JSON.stringify(path.slice(0, 200))} is not a path inside the workspace, so it is no evidence.`,
      })
      return []
    }
  })
  const ofTask = new Set(writes)
  const paths = [...new Set([...writes, ...listedByAgent])]
  const hasContract = harness.required_checks.length + harness.required_artifacts.length + harness.accept.length > 0
  // Only external workers edit files that no task lists; walking the workspace for every command would be slow.
  const findsOthers = row.processor === 'external' || hasContract
  if (paths.length === 0 && !findsOthers) return {files: [], observations}
  const baseline = new Map(readBaseline(context, row.id)?.files.map((file) => [file.path, file]))
  const listed = paths.map((path) => {
    const before = baseline.get(path)
    return before === undefined ? {path} : {path, baseline: before}
  })
  const inspected = await inspectFiles({root, listed, sinceMs, findsOthers}, signal)
  const min = confidencePolicy(context.config.socratesPolicy).minReviewFindingConfidence
  const holders = findsOthers ? otherTasksWith(context, row.id, sinceMs) : new Map<string, number>()
  observations.push(...unattributed(inspected, holders))
  const files = inspected.files.map((each): ObservedFile => {
    const file = {...each, findings: each.findings.filter(({severity}) => scanConfidence[severity] >= min)}
    const listedBy = ofTask.has(file.path) ? 'task' : 'agent'
    const holder = listedBy === 'agent' ? holders.get(file.path) : undefined
    if (holder === undefined) return {...file, listed: listedBy}
    observations.push(belongsTo(file.path, holder))
    return {...file, listed: listedBy, change: file.change === 'absent' ? 'absent' : 'unchanged'}
  })
  return {files, observations}
}

/** Patterns match listed files; they list none. */
const isPattern = (path: string): boolean => /[*?{]/.test(path)

const belongsTo = (path: string, holder: number): Finding => ({
  rule: 'evidence/other-task',
  severity: 'warning',
  path,
  message: `${path} is listed by ${displayTask(holder)}, so its changes are no evidence for this task.`,
})

function unattributed({others, isPartial}: Inspected, holders: ReadonlyMap<string, number>): Finding[] {
  const changed = others.filter((path) => !holders.has(path))
  const named = changed.slice(0, maxNamed).map(
    (path): Finding => ({
      rule: 'evidence/unattributed',
      severity: 'info',
      path,
      message: `${path} changed during the task, but no task lists it.`,
    }),
  )
  const rest = changed.length - named.length
  return [
    ...named,
    ...(rest === 0
      ? []
      : [
          {
            rule: 'evidence/unattributed',
            severity: 'info' as const,
            message: `${rest} more files changed that no task lists.`,
          },
        ]),
    ...(isPartial
      ? [
          {
            rule: 'evidence/partial',
            severity: 'info' as const,
            message: 'The workspace is too large: not all of its files were examined for changes.',
          },
        ]
      : []),
  ]
}

/** Files that other tasks write which ran at the same time, with the task. */
function otherTasksWith({store, repositoryId}: WorkspaceContext, taskId: number, sinceMs: number): Map<string, number> {
  const rows = store.all<{id: number; path: string}>(
    `SELECT t.id, f.value ->> 'path' AS path FROM orch_tasks t, json_each(t.file_manifest) f
WHERE t.repository_id = @repository AND t.id <> @task AND t.file_manifest <> '[]' AND f.value ->> 'access' = 'write'
  AND (t.status = 'InProgress' OR (t.status IN ('Completed', 'Failed', 'Cancelled') AND t.finished_at_ms >= @since))`,
    {repository: repositoryId, task: taskId, since: sinceMs},
  )
  return new Map(rows.map(({id, path}) => [path, id]))
}

/** Approvals by persons; those through the tool server come from a model. */
function approvalsOf({store}: WorkspaceContext, taskId: number): {by: string}[] {
  return store
    .all<{by: string | null}>(
      "SELECT payload ->> 'by' AS by FROM orch_events WHERE task_id = ? AND type = 'task_approved' ORDER BY id",
      [taskId],
    )
    .flatMap(({by}) => (by === null ? [] : [{by}]))
}

function blocksLowConfidence({store}: WorkspaceContext, agentId: number): boolean {
  const row = store.get<{capabilities: string}>('SELECT capabilities FROM orch_agents WHERE id = ?', [agentId])
  return row !== undefined && capabilitiesOf(row).is_low_confidence_bypass_blocked === true
}
