import type {OrchestratorConfig, SocratesThresholds} from '../../workspace/index.js'
import type {Finding} from '../base/finding.js'
import type {ApprovalTier, Task} from '../base/task.js'

/**
 * How much a piece of evidence can be trusted, least first. The agent claims it, the agent reports a check, `svc`
 * observed it (an exit status or a changed file), or `svc` ran the check for this completion.
 */
const grades = ['claimed', 'reported', 'observed', 'verified'] as const satisfies readonly CheckResult['grade'][]
export type Grade = CheckResult['grade']

export const isAtLeast = (grade: Grade, min: Grade): boolean => grades.indexOf(grade) >= grades.indexOf(min)

/** What the agent says about its finished work. */
export interface Attestation {
  completion_summary?: string
  checks_passed?: readonly string[]
  evidence_citations?: readonly string[]
  artifact_paths?: readonly string[]
  declared_non_placeholder?: boolean
  force_risky?: boolean
  force_risky_reason?: string
  /** Why files of the task are unchanged. */
  no_change_needed?: string
  observation_summary?: string
  /** Evidence for the acceptance lines of the task. */
  acceptance?: readonly AcceptanceClaim[]
}

/** The evidence that the agent names for an acceptance line. */
export interface AcceptanceClaim {
  /** The text of the line, or its position from 1. */
  line: string | number
  /** Name of a check. */
  check?: string
  /** Path of a file that the task changed. */
  file?: string
}

type Evaluation = NonNullable<Task['evaluation']>

/** A file that the task or the agent lists, as it is on the disk now. */
export type ObservedFile = Evaluation['files'][number] & {findings: readonly Finding[]}

/** The result of a check: a command template, or a name that the agent reported. */
export type CheckResult = Evaluation['checks'][number] & {
  /** The last part of the output. */
  output?: string
}

/** What must be shown for a task to be done. */
export interface Harness {
  required_checks: readonly RequiredCheck[]
  required_artifacts: readonly string[]
  /** Acceptance lines. */
  accept: readonly string[]
}

export interface RequiredCheck {
  /** Name of a command template. */
  check: string
  /** Patterns of the files that the check covers; default: all files of the task. */
  covers?: readonly string[]
}

/** How well the sources of an answer support it. */
export interface EvidenceContext {
  risk_budget?: string
  factual_mode: boolean
  required_citations: number
  evidence_count: number
  contradiction_hints: number
  retrieval_tier?: string
  retrieval_used_vector?: boolean
  retrieval_used_lexical_fallback?: boolean
  source_diversity: number
  /** 0 to 1. */
  evidence_quality: number
  /** 0 to 1. */
  citation_coverage: number
  verification_performed: boolean
  verification_reason?: string
  recommended_next_action?: string
  retrieval_diagnosis?: {evidence_shape?: string}
  fabricated_tool_claims?: readonly string[]
}

/** Everything that the gates judge: what `svc` observed, and what the agent claims. */
export interface CompletionEvidence {
  task: Task
  attestation: Attestation
  /** The result text: the summary of the agent, or the answer of the processor. */
  summary: string
  /** Files that the task or the agent lists. */
  files: readonly ObservedFile[]
  /** Changed files that cannot be attributed to anyone, and other observations. */
  observations: readonly Finding[]
  checks: readonly CheckResult[]
  harness: Harness
  /** Whether the hidden checks passed; absent if there are none, or if they have not run yet. */
  hiddenPassed?: boolean | undefined
  context: EvidenceContext | undefined
  /** Text of the context envelope in which citations are looked up; undefined without an envelope. */
  envelopeText: string | undefined
  /** Stored reliability of the agent, 0 to 1. */
  reliability: number | undefined
  /** Stored trust that the agent completes tasks, 0 to 1, with the number of outcomes. */
  completionTrust: {score: number; outcomes: number} | undefined
  /** Approval that the task needs; absent if no one has decided that it needs any. */
  approval_tier?: ApprovalTier | undefined
  /** Who approved the task, and who worked on it. */
  approvals: readonly {by: string}[]
  worker: string | undefined
  /** The agent asks for strict evidence even if the gate is off. */
  blocksLowConfidence: boolean
  policy: SocratesThresholds
  config: OrchestratorConfig
}
