import {isObject, withoutUndefined} from '../../contracts/index.js'
import {confidenceFormula, type WorkspaceContext} from '../../workspace/index.js'
import type {EvidenceContext} from '../gates/evidence.js'
import {evidenceFromRetrieval} from '../gates/retrieval.js'
import {getContext} from './context-store.js'
import {envelopeKey, parseObject} from './envelope.js'

type Members = Readonly<Record<string, unknown>>

/** The columns of a task that lead to its evidence. */
export interface EvidenceRow {
  id: number
  session_id: string | null
  /** JSON with `socrates_context` and `retrieval`, if the task has them. */
  request: string
}

/**
 * The evidence that a task can rely on: its own evidence context, else its retrieval, else a context envelope. The
 * envelope is that of the task, else the current one of its session.
 */
export function evidenceContextOf(
  context: WorkspaceContext,
  {id, session_id, request}: EvidenceRow,
): {context: EvidenceContext | undefined; envelopeText: string | undefined} {
  const {socrates_context, retrieval} = JSON.parse(request) as {socrates_context?: EvidenceContext; retrieval?: Members}
  const text = taskEnvelope(context, id) ?? (session_id === null ? undefined : sessionEnvelope(context, session_id))
  const envelope = text === undefined ? undefined : objectIn(text)
  return {
    context:
      socrates_context ??
      evidenceFromRetrieval(retrieval) ??
      (envelope === undefined ? undefined : evidenceFromEnvelope(envelope)),
    envelopeText: envelope === undefined ? undefined : searchableText(envelope),
  }
}

/** The evidence in the current context envelope of a session; undefined without an envelope. */
export function evidenceOfSession(context: WorkspaceContext, sessionId: string): EvidenceContext | undefined {
  const text = sessionEnvelope(context, sessionId)
  const envelope = text === undefined ? undefined : objectIn(text)
  return envelope === undefined ? undefined : evidenceFromEnvelope(envelope)
}

/** The context envelope that was submitted with a task, as JSON text. */
export const taskEnvelope = ({store}: Pick<WorkspaceContext, 'store'>, taskId: number): string | undefined =>
  store.get<{envelope: string | null}>('SELECT envelope FROM orch_task_evidence WHERE task_id = ?', [taskId])
    ?.envelope ?? undefined

const sessionEnvelope = (context: WorkspaceContext, sessionId: string): string | undefined =>
  getContext(context, envelopeKey(sessionId))?.value

function objectIn(text: string): Members | undefined {
  const value = parseObject(text)
  return typeof value === 'string' ? undefined : value
}

/**
 * Reads an evidence context from a caller. Missing members and those of another type have defaults that support no
 * answer; unknown members are ignored.
 */
export const readEvidenceContext = (given: Members): EvidenceContext => ({
  factual_mode: given.factual_mode === true,
  required_citations: count(given.required_citations),
  evidence_count: count(given.evidence_count),
  contradiction_hints: count(given.contradiction_hints),
  source_diversity: count(given.source_diversity),
  evidence_quality: ratio(given.evidence_quality) ?? 0,
  citation_coverage: ratio(given.citation_coverage) ?? 0,
  verification_performed: given.verification_performed === true,
  ...withoutUndefined({
    risk_budget: line(given.risk_budget),
    retrieval_tier: line(given.retrieval_tier),
    retrieval_used_vector: flag(given.retrieval_used_vector),
    retrieval_used_lexical_fallback: flag(given.retrieval_used_lexical_fallback),
    verification_reason: line(given.verification_reason),
    recommended_next_action: line(given.recommended_next_action),
    retrieval_diagnosis: diagnosis(given.retrieval_diagnosis),
    fabricated_tool_claims: claims(given.fabricated_tool_claims),
  }),
})

/** The evidence in a context envelope, which may violate its contract. */
export function evidenceFromEnvelope(envelope: Members): EvidenceContext {
  const {trust, content, safety} = membersOf(envelope, ['trust', 'content', 'safety'])
  const citations = strings(content.citations)
  const artifacts = strings(content.artifact_refs)
  const sourced = objects(content.facts)
    .map(({evidence_refs}) => strings(evidence_refs))
    .filter(({length}) => length > 0)
  const required = safety.required_citations ?? (trust.requires_citation === true ? 1 : 0)
  return {
    factual_mode: safety.factual_mode === true,
    required_citations: count(required),
    evidence_count: citations.length + artifacts.length + sourced.length,
    contradiction_hints: hintsOf(ratio(trust.contradiction_ratio) ?? 0),
    source_diversity: new Set([...citations, ...artifacts, ...sourced.flat()]).size,
    evidence_quality: ratio(trust.confidence) ?? 0,
    citation_coverage: 0,
    verification_performed: false,
    ...withoutUndefined({risk_budget: line(safety.risk_budget)}),
  }
}

/** The smallest number of contradiction hints whose ratio is at least this one. */
function hintsOf(contradiction: number): number {
  const {contradictionOfFewHints: ratios, contradictionPerHint} = confidenceFormula
  const few = ratios.findIndex((each) => contradiction <= each)
  return few === -1 ? Math.max(ratios.length, Math.ceil(contradiction / contradictionPerHint)) : few
}

/** The text of an envelope in which citations are looked up: its statements, references, data and ids, one per line. */
function searchableText(envelope: Members): string {
  const {content, subject, lineage} = membersOf(envelope, ['content', 'subject', 'lineage'])
  const {summary_text, facts, repo_paths, artifact_refs, citations, structured_payload} = content
  const parts = [summary_text, facts, repo_paths, artifact_refs, citations, structured_payload]
  return [...parts, envelope.envelope_id, subject, lineage].flatMap(textsIn).join('\n')
}

/** All strings and numbers in a value. Iterative, since a caller determines how deep it is nested. */
function textsIn(value: unknown): string[] {
  const texts: string[] = []
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'string' || typeof next === 'number') texts.push(String(next))
    else if (typeof next === 'object' && next !== null)
      for (const each of Object.values(next).reverse()) open.push(each)
  }
  return texts
}

const membersOf = <K extends string>(value: Members, names: readonly K[]) =>
  Object.fromEntries(names.map((name) => [name, objects([value[name]])[0] ?? {}])) as Readonly<Record<K, Members>>

const objects = (value: unknown): Members[] => (Array.isArray(value) ? value.filter((each) => isObject(each)) : [])

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string' && each.trim() !== '') : []

const count = (value: unknown): number =>
  typeof value === 'number' && value > 0 ? Math.min(Math.floor(value), Number.MAX_SAFE_INTEGER) : 0

const ratio = (value: unknown): number | undefined =>
  typeof value === 'number' && !Number.isNaN(value) ? Math.min(1, Math.max(0, value)) : undefined

const flag = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined)

/** Maximum length of a text in an evidence context, in characters. */
const maxLineLength = 2000

const line = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.trim().slice(0, maxLineLength) || undefined : undefined

function diagnosis(value: unknown): EvidenceContext['retrieval_diagnosis'] {
  const shape = line(objects([value])[0]?.evidence_shape)
  return shape === undefined ? undefined : {evidence_shape: shape}
}

const maxClaims = 100

function claims(value: unknown): string[] | undefined {
  const all = strings(value)
  return all.length === 0 ? undefined : all.slice(0, maxClaims).map((each) => each.slice(0, maxLineLength))
}
