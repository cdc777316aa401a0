import {latestResult} from './checks.js'
import {
  type AcceptanceClaim,
  type CompletionEvidence,
  type Grade,
  isAtLeast,
  type ObservedFile,
  type RequiredCheck,
} from './evidence.js'
import {quote} from './findings.js'
import {isNamedBy} from './paths.js'

/**
 * Whether something that the task requires is shown: `met`, `owed` (no evidence), `void` (the evidence fails or is
 * stale), `unverified` (only the agent says so).
 */
export type ProofState = 'met' | 'owed' | 'void' | 'unverified'
export type Problem = 'missing' | 'failed' | 'stale' | 'unverified'

/** The evidence for a required check or an acceptance line. */
export interface Proof {
  state: ProofState
  /** Absent if the state is `met`. */
  problem?: Problem
  grade?: Grade
  source?: {check: string} | {file: string}
  /** When the check started or the file was last written, Unix ms. */
  at_ms?: number
  /** A sentence; absent if the state is `met`. */
  reason?: string
}

export interface CheckState extends Proof {
  check: string
}

export interface AcceptanceState extends Proof {
  line: string
}

export interface HarnessState {
  checks: readonly CheckState[]
  acceptance: readonly AcceptanceState[]
  /** Claims for lines that the task does not have. */
  unknownClaims: readonly AcceptanceClaim[]
}

type Facts = Pick<CompletionEvidence, 'attestation' | 'files' | 'checks' | 'harness'>

/** The state of each required check and acceptance line of a task, in the order of the task. */
export function harnessState(facts: Facts): HarnessState {
  const {required_checks: required, accept} = facts.harness
  const claims = (facts.attestation.acceptance ?? []).map((claim) => ({claim, at: lineOf(claim, accept)}))
  return {
    checks: required.map((each) => ({check: each.check, ...proofByCheck(facts, each)})),
    acceptance: accept.map((line, i) => {
      const own = claims.flatMap(({claim, at}) => (at === i ? claim : []))
      return {line, ...proofOfLine(facts, line, own)}
    }),
    unknownClaims: claims.flatMap(({claim, at}) => (at === undefined ? claim : [])),
  }
}

/** True if the files that a check covers include this one. A check without patterns covers all files. */
export const isCovered = ({covers}: Omit<RequiredCheck, 'check'>, path: string): boolean =>
  covers === undefined || covers.some((pattern) => isNamedBy(path, pattern))

export const isChanged = ({change}: Pick<ObservedFile, 'change'>): boolean =>
  change !== 'unchanged' && change !== 'absent'

/** The strongest evidence counts: a result that `svc` observed replaces one that the agent reported. */
function proofByCheck({checks, files}: Facts, required: RequiredCheck): Proof {
  const {check} = required
  const name = quote(check)
  const source = {check}
  const result = latestResult(checks, check, 'observed') ?? latestResult(checks, check, 'claimed')
  if (result === undefined) return {state: 'owed', problem: 'missing', source, reason: `The check ${name} did not run.`}
  const {grade, passed, reason, started_at_ms: startMs} = result
  const seen = {source, grade, ...(startMs !== undefined && {at_ms: startMs})}
  if (!passed)
    return {
      ...seen,
      state: 'void',
      problem: 'failed',
      reason: `The check ${name} failed${reason === undefined ? '' : `: ${reason}`}.`,
    }
  if (!isAtLeast(grade, 'observed'))
    return {
      ...seen,
      state: 'unverified',
      problem: 'unverified',
      reason: `Only the agent says that the check ${name} passed.`,
    }
  const later = files.find(
    (file) =>
      isChanged(file) && isCovered(required, file.path) && !(startMs !== undefined && startMs >= file.written_at_ms),
  )
  if (later === undefined) return {...seen, state: 'met'}
  return {
    ...seen,
    state: 'void',
    problem: 'stale',
    reason: `The check ${name} started before the last change of ${quote(later.path)}.`,
  }
}

function proofByFile({files}: Facts, path: string): Proof {
  const source = {file: path}
  const named = files.filter((file) => isNamedBy(file.path, path))
  if (named.length === 0)
    return {state: 'owed', problem: 'missing', source, reason: `The task did not change the file ${quote(path)}.`}
  const changed = named.find(isChanged)
  if (changed === undefined)
    return {state: 'void', problem: 'failed', source, reason: `The file ${quote(path)} is ${named[0]?.change}.`}
  return {state: 'met', source, grade: 'observed', at_ms: changed.written_at_ms}
}

type Binding = {check: string} | {file: string}

const tag = /\[\[(check|file):([^\]\n]{1,1024})\]\]/g

/** The checks or files that an acceptance line names as its evidence. */
export const boundNames = (line: string, kind: 'check' | 'file'): string[] =>
  [...line.matchAll(tag)].flatMap(([, found, name = '']) => (found === kind ? [name.trim()] : []))

/** Tags of a line bind its evidence; the agent chooses the evidence of other lines. All the evidence must hold. */
function proofOfLine(facts: Facts, line: string, claims: readonly AcceptanceClaim[]): Proof {
  const tagged: Binding[] = [
    ...boundNames(line, 'check').map((check) => ({check})),
    ...boundNames(line, 'file').map((file) => ({file})),
  ]
  if (tagged.length > 0) return weakest(tagged.map((binding) => proofBy(facts, binding)))
  if (claims.length === 0)
    return {state: 'owed', problem: 'missing', reason: 'No check or file is named as its evidence.'}
  return weakest(claims.flatMap((claim) => proofsOfClaim(facts, claim)))
}

function proofsOfClaim(facts: Facts, {check, file}: AcceptanceClaim): Proof[] {
  const bindings = [...(check === undefined ? [] : [{check}]), ...(file === undefined ? [] : [{file}])]
  if (bindings.length === 0)
    return [onlyClaimed({state: 'owed', reason: 'The agent names no check or file as its evidence.'})]
  return bindings.map((binding) => {
    const proof = proofBy(facts, binding)
    return proof.state === 'owed' ? onlyClaimed(proof) : proof
  })
}

const onlyClaimed = (proof: Proof): Proof => ({...proof, state: 'unverified', problem: 'unverified', grade: 'claimed'})

const proofBy = (facts: Facts, binding: Binding): Proof =>
  'file' in binding
    ? proofByFile(facts, binding.file)
    : proofByCheck(facts, facts.harness.required_checks.find(({check}) => check === binding.check) ?? binding)

/** From the strongest to the weakest. */
const order: readonly ProofState[] = ['met', 'unverified', 'owed', 'void']

const weakest = (proofs: readonly Proof[]): Proof =>
  proofs.reduce((worst, proof) => (order.indexOf(proof.state) > order.indexOf(worst.state) ? proof : worst))

/** Index of the line that a claim names by its text, or by its position from 1. */
function lineOf({line}: AcceptanceClaim, lines: readonly string[]): number | undefined {
  const byText = typeof line === 'string' ? lines.findIndex((each) => textOf(each) === textOf(line)) : -1
  const index = byText === -1 ? Number(line) - 1 : byText
  return Object.hasOwn(lines, index) ? index : undefined
}

/** A line without tags, with single spaces. */
const textOf = (line: string): string => line.replaceAll(tag, '').replaceAll(/\s+/g, ' ').trim()
