import {extname} from 'node:path'
import type {Finding} from '../base/finding.js'
import {latestResult} from './checks.js'
import {type CompletionEvidence, isAtLeast} from './evidence.js'
import {error, quote, warning} from './findings.js'
import type {Gate, GateMode} from './gate.js'
import {
  type AcceptanceState,
  type CheckState,
  harnessState,
  isChanged,
  isCovered,
  type Problem,
} from './harness-state.js'
import {isNamedBy} from './paths.js'

const modes: Readonly<Record<string, GateMode>> = {
  off: 'off',
  shadow: 'shadow',
  warn: 'shadow',
  enforce: 'enforce',
  strict: 'enforce',
}

/** Requires the checks, files and acceptance lines of the task, each with evidence that `svc` observed. */
export const harness: Gate = {
  name: 'harness',
  family: 'debug',
  mode: ({config}) => modes[config.harnessCompletionGuard] ?? 'enforce',
  evaluate(evidence) {
    const {checks, acceptance, unknownClaims} = harnessState(evidence)
    return [
      ...checks.flatMap(checkFinding),
      ...untestedEdits(evidence),
      ...missingArtifacts(evidence),
      ...acceptance.flatMap(acceptanceFinding),
      ...unknownClaims.map(({line}) =>
        warning('harness/accept-unknown', `The task has no acceptance line ${quote(String(line))}.`),
      ),
      ...falseReports(evidence),
    ]
  },
}

const actions: Readonly<Record<Problem, string>> = {
  missing: 'Run its command template.',
  failed: 'Fix the cause and run it again.',
  stale: 'Run it again.',
  unverified: 'Run its command template, so that svc observes the result.',
}

const checkFinding = ({problem, reason}: CheckState): Finding[] =>
  problem === undefined ? [] : [error(`harness/check-${problem}`, `${reason} It is required. ${actions[problem]}`)]

const acceptanceFinding = ({line, state, reason}: AcceptanceState): Finding[] =>
  state === 'met' ? [] : [error(`harness/accept-${state}`, `The acceptance line ${quote(line)} is not met. ${reason}`)]

/** Extensions of files that no test can cover. */
const notCode = new Set(
  'md markdown txt rst adoc json yaml yml png jpg jpeg gif svg webp avif ico bmp'.split(' ').map((name) => `.${name}`),
)

function untestedEdits({harness: {required_checks: required}, files}: CompletionEvidence): Finding[] {
  if (!required.some(({covers}) => covers !== undefined)) return []
  return files
    .filter((file) => isChanged(file) && !notCode.has(extname(file.path).toLowerCase()))
    .filter(({path}) => !required.some((check) => isCovered(check, path)))
    .map(({path}) =>
      error(
        'harness/untested-edit',
        `No required check covers the change of ${quote(path)}. Revert it or test it.`,
        path,
      ),
    )
}

const missingArtifacts = ({harness: {required_artifacts: required}, files}: CompletionEvidence): Finding[] =>
  required
    .filter(
      (artifact) =>
        !files.some(({path, change}) => (change === 'created' || change === 'modified') && isNamedBy(path, artifact)),
    )
    .map((artifact) =>
      error('harness/artifact-missing', `The task must create or change the file ${quote(artifact)}.`, artifact),
    )

/** Checks that the agent reports as passed although `svc` saw them fail. */
function falseReports({attestation, checks}: CompletionEvidence): Finding[] {
  const reported = checks.flatMap(({check, grade, passed}) => (passed && !isAtLeast(grade, 'observed') ? check : []))
  const names = new Set([...(attestation.checks_passed ?? []).map((name) => name.trim()), ...reported])
  return [...names]
    .filter((name) => latestResult(checks, name, 'observed')?.passed === false)
    .map((name) =>
      error(
        'harness/false-report',
        `The check ${quote(name)} is reported as passed, but it failed. Correct the report.`,
      ),
    )
}
