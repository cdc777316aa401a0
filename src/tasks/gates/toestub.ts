import type {Finding} from '../base/finding.js'
import type {Attestation, CompletionEvidence} from './evidence.js'
import {error, fails, info, quote} from './findings.js'
import type {Gate} from './gate.js'
import {openMarkers} from './markers.js'
import {comparablePath, isNamedBy} from './paths.js'
import {isLinkFinding, scanFindings} from './scan-findings.js'

/** Requires an attestation that is complete, and written files without placeholders and secrets. */
export const toestub: Gate = {
  name: 'toestub',
  family: 'toestub',
  mode: ({config}) => (config.toestubGate ? 'enforce' : 'off'),
  evaluate: (evidence) => [
    ...attestationFindings(evidence),
    ...markerFindings(evidence),
    ...scanFindings(evidence.files).filter((finding) => fails(finding) && !isLinkFinding(finding)),
  ],
}

/** Members that turn a plain summary into an attestation, which must then be complete. */
const attesting = [
  'artifact_paths',
  'checks_passed',
  'evidence_citations',
  'declared_non_placeholder',
  'force_risky',
  'no_change_needed',
  'acceptance',
] as const satisfies readonly (keyof Attestation)[]

/** Minimum length of a summary, characters. */
const minSummaryLength = 24

function attestationFindings(evidence: CompletionEvidence): Finding[] {
  const {attestation, task, summary} = evidence
  if (attesting.every((name) => attestation[name] === undefined)) return []
  const absent = absentArtifacts(evidence)
  if (attestation.force_risky === true) return [riskFinding(attestation.force_risky_reason?.trim() ?? ''), ...absent]
  const {artifact_paths: artifacts = [], checks_passed: checks = [], declared_non_placeholder: declared} = attestation
  const attested = new Set(artifacts.map(comparablePath))
  const writes = task.file_manifest.filter(({access}) => access === 'write').map(({path}) => path)
  const findings = writes
    .filter((path) => !attested.has(comparablePath(path)))
    .map((path) =>
      error('policy/artifact-not-listed', `The task writes ${quote(path)}. List it in artifact_paths.`, path),
    )
  if (writes.length === 0 && declared !== true)
    findings.push(error('policy/not-declared', 'The task writes no file. Set declared_non_placeholder.'))
  if ([...(attestation.completion_summary ?? summary).trim()].length < minSummaryLength)
    findings.push(
      error('policy/short-summary', `The summary needs at least ${minSummaryLength} characters. Describe the result.`),
    )
  if (artifacts.length === 0 && checks.length === 0)
    findings.push(error('policy/no-proof', 'List the written files in artifact_paths or the checks in checks_passed.'))
  return [...findings, ...absent, ...(writes.length === 0 ? [] : unchangedArtifacts(evidence))]
}

/** Artifacts that name no file which exists or which the task deleted. */
const absentArtifacts = ({attestation: {artifact_paths: artifacts = []}, files}: CompletionEvidence): Finding[] =>
  artifacts
    .filter((artifact) => !files.some(({path, change}) => change !== 'absent' && isNamedBy(path, artifact)))
    .map((artifact) =>
      error(
        'policy/artifact-absent',
        `The artifact ${quote(artifact)} is absent: the workspace has no such file. Write it, or do not list it.`,
        artifact,
      ),
    )

/** Artifacts that are known to be as they were at the claim of the task; files without a digest could not be read. */
function unchangedArtifacts({attestation, files}: CompletionEvidence): Finding[] {
  const {artifact_paths: artifacts = [], no_change_needed: reason} = attestation
  const unchanged = artifacts.filter((artifact) => {
    const named = files.filter(({path, change}) => change !== 'absent' && isNamedBy(path, artifact))
    return named.length > 0 && named.every(({change, digest}) => change === 'unchanged' && digest !== undefined)
  })
  if (unchanged.length === 0) return []
  if (reason !== undefined && reason.trim() !== '')
    return [info('policy/no-change-accepted', `The agent says that no change is needed: ${quote(reason.trim())}`)]
  return unchanged.map((artifact) =>
    error(
      'policy/artifact-unchanged',
      `The task did not change the artifact ${quote(artifact)}. Change it, or state in no_change_needed why not.`,
      artifact,
    ),
  )
}

const riskFinding = (reason: string): Finding =>
  reason === ''
    ? error('policy/risk-without-reason', 'State the reason for force_risky in force_risky_reason.')
    : info('policy/risk-accepted', `The agent skipped the checks of its attestation: ${quote(reason)}`)

/** Only the summary of an agent is judged: the output of a command may mention anything. */
const markerFindings = ({attestation: {completion_summary: text = ''}, task, files}: CompletionEvidence): Finding[] =>
  openMarkers(
    text,
    [...task.file_manifest, ...files].map(({path}) => path),
  ).map(({marker, clause}) =>
    error(
      'policy/marker',
      `The summary says ${quote(marker)} in ${quote(clause)}. Finish that part, or state what was removed.`,
    ),
  )
