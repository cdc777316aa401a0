import type {Finding} from '../base/finding.js'
import type {CompletionEvidence} from './evidence.js'

/** The counter that a gate increases when it returns a task. */
export type GateFamily = 'debug' | 'toestub' | 'socrates'

export type GateMode = 'off' | 'shadow' | 'enforce'

/** A condition for the completion of a task, in the order of evaluation. */
export interface Gate {
  readonly name: GateName
  readonly family: GateFamily
  /** A gate that is off is not evaluated; one in shadow mode is recorded and changes nothing. */
  mode(evidence: CompletionEvidence): GateMode
  /** Whether a reliable agent is exempted from a failure of this gate. Default: no. */
  relaxes?(evidence: CompletionEvidence): boolean
  /** Pure: reads nothing but the evidence. Fails if any finding is an error or critical. */
  evaluate(evidence: CompletionEvidence): readonly Finding[]
  /** Members for the record, such as a confidence. */
  details?(evidence: CompletionEvidence): Readonly<Record<string, unknown>> | undefined
}

/** All gates in order. */
export const gateNames = [
  'behavioral',
  'research',
  'approval',
  'trust',
  'harness',
  'toestub',
  'links',
  'grounding',
  'socrates',
  'hidden',
] as const
export type GateName = (typeof gateNames)[number]
