import type {Task} from '../../../src/tasks/base/task.js'
import type {
  CheckResult,
  CompletionEvidence,
  EvidenceContext,
  Harness,
  ObservedFile,
} from '../../../src/tasks/gates/evidence.js'
import type {Gate, GateName} from '../../../src/tasks/gates/gate.js'
import {evaluateGates, type GateResult, gates} from '../../../src/tasks/gates/gates.js'
import {type OrchestratorConfig, resolveOrchestratorConfig} from '../../../src/workspace/config.js'
import {confidencePolicy, type SocratesThresholds} from '../../../src/workspace/policy.js'
import {aTask} from '../../scheduler/processors/a-task.js'

const {config: defaultConfig} = resolveOrchestratorConfig({env: {}})

/** Overrides of the evidence; nested members can be partial. */
export type Facts = Partial<Omit<CompletionEvidence, 'config' | 'task' | 'policy' | 'harness'>> & {
  config?: Partial<OrchestratorConfig>
  task?: Partial<Task>
  policy?: Partial<SocratesThresholds>
  harness?: Partial<Harness>
}

/** The evidence of a task without files, checks and claims, under the default configuration. */
export const anEvidence = ({config, task, policy, harness, ...facts}: Facts = {}): CompletionEvidence => ({
  task: aTask(task),
  attestation: {},
  summary: facts.attestation?.completion_summary ?? '',
  files: [],
  observations: [],
  checks: [],
  harness: {required_checks: [], required_artifacts: [], accept: [], ...harness},
  context: undefined,
  envelopeText: undefined,
  reliability: undefined,
  completionTrust: undefined,
  approvals: [],
  worker: 'builder',
  blocksLowConfidence: false,
  policy: confidencePolicy(policy ?? {}),
  config: {...defaultConfig, ...config},
  ...facts,
})

/** A modified file, written at 1000 ms. */
export const aFile = (path: string, facts: Partial<ObservedFile> = {}): ObservedFile => ({
  path,
  change: 'modified',
  listed: 'task',
  bytes: 10,
  written_at_ms: 1000,
  findings: [],
  ...facts,
})

/** A check that `svc` ran at 2000 ms and that passed. */
export const aCheck = (check: string, facts: Partial<CheckResult> = {}): CheckResult => ({
  check,
  grade: 'verified',
  passed: true,
  started_at_ms: 2000,
  finished_at_ms: 2100,
  ...facts,
})

/** Evidence context without sources, of which none are required. */
export const aContext = (facts: Partial<EvidenceContext> = {}): EvidenceContext => ({
  factual_mode: false,
  required_citations: 0,
  evidence_count: 0,
  contradiction_hints: 0,
  source_diversity: 0,
  evidence_quality: 0,
  citation_coverage: 0,
  verification_performed: false,
  ...facts,
})

/** The result of one gate; undefined if it is off. */
export function resultOf(name: GateName, facts: Facts = {}): GateResult | undefined {
  const gate = gates.find((each) => each.name === name) as Gate
  return evaluateGates(anEvidence(facts), [gate]).results[0]
}

/** The verdict of one gate, and the rules of its findings in order. */
export function outcomeOf(name: GateName, facts: Facts = {}): string {
  const result = resultOf(name, facts)
  if (result === undefined) return 'off'
  return [result.shadow ? `shadow ${result.verdict}` : result.verdict, ...result.findings.map(({rule}) => rule)].join(
    ' ',
  )
}
