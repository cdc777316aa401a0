import type {CompletionEvidence} from './evidence.js'

/** Marks a citation in a summary: `[[svccite:ID]]`. */
const marker = /\[\[svccite:([^\]\n]{1,1024})\]\]/g

/** Citations to look up; each takes time in proportion to the length of the envelope. Further ones do not match. */
const maxMatched = 200

export const withoutCitations = (summary: string): string => summary.replaceAll(marker, ' ')

export interface Citations {
  /** Declared in the attestation or the summary, each once. */
  declared: readonly string[]
  /** Those that the context envelope contains, in any case. */
  matched: readonly string[]
}

type Sources = Pick<CompletionEvidence, 'attestation' | 'summary' | 'envelopeText'>

export function citationsOf({attestation, summary, envelopeText}: Sources): Citations {
  const inSummary = [...summary.matchAll(marker)].map(([, id = '']) => id)
  const byKey = new Map<string, string>()
  for (const citation of [...(attestation.evidence_citations ?? []), ...inSummary].map((each) => each.trim()))
    if (citation !== '' && !byKey.has(citation.toLowerCase())) byKey.set(citation.toLowerCase(), citation)
  const envelope = envelopeText?.toLowerCase()
  const matched = [...byKey].slice(0, maxMatched).filter(([key]) => envelope?.includes(key) === true)
  return {declared: [...byKey.values()], matched: matched.map(([, citation]) => citation)}
}
