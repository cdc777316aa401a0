import type {Finding} from '../base/finding.js'
import type {Attestation, CompletionEvidence} from './evidence.js'
import {error, fails, info, quote} from './findings.js'
import type {Gate} from './gate.js'
import {openMarkers} from './markers.js'
import {comparablePath} from './paths.js'
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
  'acceptance',
] as const satisfies readonly (keyof Attestation)[]

/** Minimum length of a summary, characters. */
const shortestSummary = 24

function attestationFindings({attestation, task, summary}: CompletionEvidence): Finding[] {
  if (attesting.every((name) => attestation[name] === undefined)) return []
  if (attestation.force_risky === true) return [riskFinding(attestation.force_risky_reason?.trim() ?? '')]
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
  if ([...(attestation.completion_summary ?? summary).trim()].length < shortestSummary)
    findings.push(
      error('policy/short-summary', `The summary needs at least ${shortestSummary} characters. Describe the result.`),
    )
  if (artifacts.length === 0 && checks.length === 0)
    findings.push(error('policy/no-proof', 'List the written files in artifact_paths or the checks in checks_passed.'))
  return findings
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
