import {withoutUndefined} from '../../contracts/index.js'
import type {Task} from '../base/task.js'
import type {Collected} from '../evidence/collect.js'
import type {CompletionEvidence} from '../gates/evidence.js'
import type {Evaluation} from '../gates/gates.js'
import {harnessState, isChanged, type Proof} from '../gates/harness-state.js'
import {isNamedBy} from '../gates/paths.js'
import {scanReport} from '../scan/report.js'

/** What is stored of an evaluation and shown with the task. */
export type RecordedEvaluation = NonNullable<Task['evaluation']>

type Decision = Pick<RecordedEvaluation, 'outcome' | 'gate' | 'iteration' | 'cap'>

/** Maximum number of files and of findings to store. */
const maxItems = 200

export function recordOf(
  {collected: {evidence, sinceMs}, evaluation}: {collected: Collected; evaluation: Evaluation},
  decision: Decision,
  evaluatedAtMs: number,
): RecordedEvaluation {
  const {files, checks, observations} = evidence
  const findings = files.flatMap((file) => file.findings)
  return {
    ...decision,
    since_ms: sinceMs,
    evaluated_at_ms: evaluatedAtMs,
    gates: evaluation.results.map(({findings, ...result}) => ({...result, findings: [...findings]})),
    files: files.slice(0, maxItems).map(({findings: _, ...file}) => file),
    checks: checks.map(({output: _, ...check}) => check),
    owed: owedItems(evidence),
    observations: observations.slice(0, maxItems),
    scan: {...scanReport(findings), findings: findings.slice(0, maxItems)},
  }
}

/** The state of everything that the task must show. */
function owedItems(evidence: CompletionEvidence): RecordedEvaluation['owed'] {
  const {checks, acceptance} = harnessState(evidence)
  const artifacts = evidence.harness.required_artifacts.map((path): Owed => {
    const file = evidence.files.find((each) => isChanged(each) && isNamedBy(each.path, path))
    const met = file !== undefined && file.change !== 'deleted'
    return {
      kind: 'artifact',
      item: path,
      state: met ? 'met' : 'owed',
      ...(met && {grade: 'observed', at_ms: file.written_at_ms}),
    }
  })
  return [
    ...checks.map(({check, ...proof}) => owed('check', check, proof)),
    ...artifacts,
    ...acceptance.map(({line, ...proof}) => owed('accept', line, proof)),
  ]
}

type Owed = RecordedEvaluation['owed'][number]

function owed(kind: Owed['kind'], item: string, {state, grade, source, at_ms, reason}: Proof): Owed {
  const named = source === undefined ? undefined : 'check' in source ? source.check : source.file
  return {kind, item, state, ...withoutUndefined({grade, source: named, at_ms, reason})}
}

/** True if there is anything to show about an evaluation. */
export const hasContent = ({files, checks, owed, observations, gates}: RecordedEvaluation): boolean =>
  files.length + checks.length + owed.length + observations.length > 0 || gates.some(isNotable)

/** True if a gate found something or did not simply pass. */
export const isNotable = ({verdict, findings}: RecordedEvaluation['gates'][number]): boolean =>
  verdict !== 'pass' || findings.length > 0
