import type {Finding} from '../base/finding.js'
import {approval} from './approval.js'
import {behavioral} from './behavioral.js'
import type {CompletionEvidence} from './evidence.js'
import {error, fails, limitFindings} from './findings.js'
import type {Gate, GateFamily, GateMode, GateName} from './gate.js'
import {grounding} from './grounding.js'
import {harness} from './harness.js'
import {hidden} from './hidden.js'
import {links} from './links.js'
import {research} from './research.js'
import {socrates} from './socrates.js'
import {toestub} from './toestub.js'
import {trust} from './trust.js'

/** All gates in the order of evaluation. */
export const gates: readonly Gate[] = [
  behavioral,
  research,
  approval,
  trust,
  harness,
  toestub,
  links,
  grounding,
  socrates,
  hidden,
]

/** `relaxed`: the gate failed, but the agent is exempted because it is reliable. */
export type Verdict = 'pass' | 'fail' | 'relaxed'

export interface GateResult {
  gate: GateName
  verdict: Verdict
  /** The result is recorded and changes nothing. */
  shadow: boolean
  findings: readonly Finding[]
  details?: Readonly<Record<string, unknown>>
}

export interface Evaluation {
  /** Results of all gates that are not off, in order. */
  results: readonly GateResult[]
  /** The first failed gate that prevents the completion. */
  blocking?: {gate: GateName; family: GateFamily}
}

/** Evaluates all gates, so that a person sees every finding at once. */
export function evaluateGates(evidence: CompletionEvidence, all: readonly Gate[] = gates): Evaluation {
  const results = all.flatMap((gate) => evaluateGate(gate, evidence))
  const first = results.find(({verdict, shadow}) => verdict === 'fail' && !shadow)
  const blocking = all.find(({name}) => name === first?.gate)
  return {results, ...(blocking !== undefined && {blocking: {gate: blocking.name, family: blocking.family}})}
}

/** A gate that cannot run fails, and no agent is exempted from that. */
function evaluateGate(gate: Gate, evidence: CompletionEvidence): GateResult[] {
  let mode: GateMode = 'enforce'
  try {
    mode = gate.mode(evidence)
    if (mode === 'off') return []
    const findings = gate.evaluate(evidence)
    const details = gate.details?.(evidence)
    return [
      {
        gate: gate.name,
        verdict: verdictOf(gate, evidence, findings),
        shadow: mode === 'shadow',
        findings: limitFindings(findings),
        ...(details !== undefined && {details}),
      },
    ]
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const finding = error('gate/cannot-run', `The gate ${gate.name} could not run: ${reason}`)
    return [{gate: gate.name, verdict: 'fail', shadow: mode === 'shadow', findings: [finding]}]
  }
}

function verdictOf(gate: Gate, evidence: CompletionEvidence, findings: readonly Finding[]): Verdict {
  if (!findings.some(fails)) return 'pass'
  return isReliable(evidence) && gate.relaxes?.(evidence) === true ? 'relaxed' : 'fail'
}

/** True if gates are relaxed for the agent. An agent without a stored reliability is not exempted. */
const isReliable = ({config, reliability}: CompletionEvidence): boolean =>
  config.trustGateRelaxEnabled && reliability !== undefined && reliability >= config.trustGateRelaxMinReliability
