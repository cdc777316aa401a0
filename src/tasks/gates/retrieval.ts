import {isObject} from '../../contracts/index.js'
import type {EvidenceContext} from './evidence.js'

const hitNames = ['memory_hits', 'knowledge_hits', 'chunk_hits', 'repo_hits'] as const

/**
 * Reads the evidence context from the retrieval part of a session's context envelope. All members are optional; invalid
 * ones are ignored:
 *
 * - `memory_hits`, `knowledge_hits`, `chunk_hits`, `repo_hits`, `fused_hits`: number or list of hits
 * - `contradiction_hints`: number or list; `fabricated_tool_claims`: list of texts
 * - `source_diversity`: number of sources, by default the number of kinds of hits
 * - `evidence_quality`, `citation_coverage`: 0 to 1, by default 0
 * - `tier`, `used_vector`, `used_lexical_fallback`, also with the prefix `retrieval_`
 * - `verification_performed`, `verification_reason`, `recommended_next_action`, `risk_budget`
 * - `evidence_shape`, also inside `retrieval_diagnosis`
 *
 * Hits that were only fused count as one piece of evidence. Without any hit, a citation is required.
 * @returns undefined if the value is not an object
 */
export function evidenceFromRetrieval(retrieval: unknown): EvidenceContext | undefined {
  if (!isObject(retrieval)) return undefined
  const hits = hitNames.map((name) => countOf(retrieval[name]))
  const found = hits.reduce((sum, count) => sum + count, 0)
  const fused = countOf(retrieval.fused_hits)
  const diagnosis = isObject(retrieval.retrieval_diagnosis) ? retrieval.retrieval_diagnosis : {}
  const fabricated = retrieval.fabricated_tool_claims
  return {
    ...present('risk_budget', textOf(retrieval.risk_budget)),
    factual_mode: true,
    required_citations: found + fused > 0 ? 0 : 1,
    evidence_count: found > 0 ? found : Math.min(fused, 1),
    contradiction_hints: countOf(retrieval.contradiction_hints),
    ...present('retrieval_tier', textOf(retrieval.tier ?? retrieval.retrieval_tier)),
    ...present('retrieval_used_vector', flagOf(retrieval.used_vector ?? retrieval.retrieval_used_vector)),
    ...present(
      'retrieval_used_lexical_fallback',
      flagOf(retrieval.used_lexical_fallback ?? retrieval.retrieval_used_lexical_fallback),
    ),
    source_diversity:
      retrieval.source_diversity === undefined
        ? hits.filter((count) => count > 0).length
        : countOf(retrieval.source_diversity),
    evidence_quality: shareOf(retrieval.evidence_quality),
    citation_coverage: shareOf(retrieval.citation_coverage),
    verification_performed: retrieval.verification_performed === true,
    ...present('verification_reason', textOf(retrieval.verification_reason)),
    ...present('recommended_next_action', textOf(retrieval.recommended_next_action)),
    ...present('retrieval_diagnosis', shapeOf(diagnosis.evidence_shape ?? retrieval.evidence_shape)),
    ...(Array.isArray(fabricated) && {
      fabricated_tool_claims: fabricated.filter((claim) => typeof claim === 'string'),
    }),
  }
}

/** The length of a list, or a number rounded down; 0 for other values. */
function countOf(value: unknown): number {
  if (Array.isArray(value)) return value.length
  return typeof value === 'number' && Number.isFinite(value) ? Math.max(0, Math.trunc(value)) : 0
}

const shareOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : 0

const textOf = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined)
const flagOf = (value: unknown) => (typeof value === 'boolean' ? value : undefined)

function shapeOf(value: unknown) {
  const shape = textOf(value)
  return shape === undefined ? undefined : {evidence_shape: shape.toLowerCase()}
}

const present = <K extends string, V>(name: K, value: V | undefined): {[P in K]?: V} =>
  value === undefined ? {} : ({[name]: value} as {[P in K]?: V})
