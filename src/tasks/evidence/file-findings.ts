import type {Finding} from '../base/finding.js'
import {applyBaseline, fingerprintsOf as fingerprints} from '../scan/baseline.js'
import {brokenLinks} from '../scan/links.js'
import {baselineOf, scanText} from '../scan/scan-text.js'

/** True if a path relative to the workspace root exists. */
type Exists = (path: string) => boolean

const linksOf = (path: string, text: string, exists: Exists): Finding[] =>
  /\.(?:md|markdown)$/i.test(path) ? brokenLinks(path, text, exists) : []

/** The fingerprints of all findings of a file, for the baseline of a task. */
export const fingerprintsOf = (path: string, text: string, exists: Exists): string[] => [
  ...baselineOf(path, text),
  ...fingerprints(linksOf(path, text, exists), text),
]

/** The findings of a file; those in the baseline have severity `info`. */
export const findingsSince = (path: string, text: string, baseline: readonly string[], exists: Exists): Finding[] => [
  ...scanText(path, text, baseline),
  ...applyBaseline(linksOf(path, text, exists), text, baseline),
]
