import {type Finding, severities} from '../base/finding.js'
import {applyBaseline, fingerprintsOf} from './baseline.js'
import {isProse, languageOf, spansOf} from './languages.js'
import {rules, type View} from './rules.js'
import {lineFinder, viewOf} from './views.js'

/** Most findings that are reported for a file. */
export const maxFindings = 200

/** Folders of files that tests read. */
const fixtureFolder = /(?:^|\/)(?:fixtures?|__fixtures__|testdata|snapshots|__snapshots__)\//i

/**
 * Finds stubs, hardcoded secrets and similar defects in a file that a task wrote, in order of lines, at most one finding
 * per rule and line, the most severe first. Findings in the baseline have severity `info`. If there are more than 200 findings, the most severe
 * are returned. Takes linear time for any text.
 * @param path relative to the workspace root, with `/`
 */
export function scanText(path: string, text: string, baseline: readonly string[] = []): Finding[] {
  const findings = applyBaseline(findAll(path, text), text, baseline)
  return findings
    .toSorted((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity))
    .slice(0, maxFindings)
    .sort(byLine)
}

/** The baseline of a file: fingerprints of all findings, which do not contain its text. */
export const baselineOf = (path: string, text: string): string[] => fingerprintsOf(findAll(path, text), text)

const byLine = (a: Finding, b: Finding) => (a.line ?? 0) - (b.line ?? 0)

function findAll(path: string, text: string): Finding[] {
  const language = languageOf(path)
  const views = viewsOf(text, language)
  const lineOf = lineFinder(text)
  const isFixture = fixtureFolder.test(path)
  const found = new Map<string, Finding>()
  for (const {id: rule, severity, message, patterns} of rules) {
    if (isFixture && !rule.startsWith('security/')) continue
    for (const {view, pattern, requires, languages = [language], accepts = () => true} of patterns) {
      if (!languages.includes(language) || requires?.test(views[view]) === false) continue
      for (const match of views[view].matchAll(pattern)) {
        const end = match.index + match[0].length
        if (!accepts(match, text.slice(match.index, end), path)) continue
        const line = lineOf(end - match[0].trimStart().length)
        const key = `${line} ${rule}`
        if (!found.has(key)) found.set(key, {rule, severity: isFixture ? 'warning' : severity, path, line, message})
      }
    }
  }
  return [...found.values()].sort(byLine)
}

function viewsOf(text: string, language: string): Record<View, string> {
  // A byte order mark is not part of the first line.
  const source = text.replace(/^\ufeff/, ' ')
  const spans = spansOf(source, language)
  return {
    text: source,
    code: viewOf(source, spans, {comment: '\0', string: '"', prose: '\0'}),
    comments: viewOf(source, spans, {code: '\0', string: '\0', prose: '\0'}),
    prose: isProse(language) ? viewOf(source, spans, {code: '\0', string: '\0', comment: '\0'}) : '',
  }
}
