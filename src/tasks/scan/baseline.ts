import {createHash} from 'node:crypto'
import type {Finding} from '../base/finding.js'

/**
 * Fingerprints of the findings in a file: the rule and the text of the line, hashed, so that a baseline can be stored
 * without the text. A finding keeps its fingerprint when its line moves. Equal lines have equal fingerprints, so a
 * baseline can contain a fingerprint several times.
 */
export function fingerprintsOf(findings: readonly Finding[], text: string): string[] {
  const lines = text.split('\n')
  return findings.map(({rule, line = 0}) =>
    createHash('sha256')
      .update(`${rule}\n${lines[line - 1]?.trim() ?? ''}`)
      .digest('hex')
      .slice(0, 16),
  )
}

/** Sets the severity of findings that are in the baseline to `info`. Of equal findings, the last ones are new. */
export function applyBaseline(findings: readonly Finding[], text: string, baseline: readonly string[]): Finding[] {
  const known = new Map<string, number>()
  for (const fingerprint of baseline) known.set(fingerprint, (known.get(fingerprint) ?? 0) + 1)
  const fingerprints = fingerprintsOf(findings, text)
  return findings.map((finding, i) => {
    const left = known.get(fingerprints[i]!) ?? 0
    if (left === 0) return finding
    known.set(fingerprints[i]!, left - 1)
    return {...finding, severity: 'info'}
  })
}
