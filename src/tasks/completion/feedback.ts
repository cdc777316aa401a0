import type {Finding} from '../base/finding.js'
import type {GateFamily} from '../gates/gate.js'
import type {RecordedEvaluation} from './record.js'

/** Findings of a gate in a report. */
const maxLines = 20
const maxReportLength = 4000

/** The findings of all gates that do not accept a completion, as text that a person or a model can act on. */
export function feedback({gates}: Pick<RecordedEvaluation, 'gates'>): string {
  const failed = gates.filter(({verdict, shadow}) => verdict === 'fail' && !shadow)
  const sections = failed.map(({gate, findings}) => {
    const serious = findings.filter(({severity}) => severity === 'error' || severity === 'critical')
    const rest = serious.length - maxLines
    const lines = serious.slice(0, maxLines).map(findingLine)
    return [`${gate}:`, ...lines, ...(rest > 0 ? [`- and ${rest} more`] : [])].join('\n')
  })
  const text = sections.join('\n')
  return text.length <= maxReportLength ? text : `${text.slice(0, maxReportLength)} [...]`
}

/** A finding as a line: `- src/a.ts:12: A secret. (security/hardcoded-secret/generic)`. */
export function findingLine({path, line, message, rule}: Finding): string {
  const place = path === undefined || message.includes(path) ? '' : `${path}${line === undefined ? '' : `:${line}`}: `
  return `- ${place}${message} (${rule})`
}

interface Returned {
  family: GateFamily
  gate: string
  iteration: number
  cap: number
  report: string
}

const earlier = /\n\n\[(?:AUTO-DEBUG ITERATION|SOCRATES GATE) \d+\] (?:(?!\n\n\[)[\s\S])*$/

/** A description with the findings for the next attempt; they replace those of the attempt before. */
export function withFeedback(description: string, {family, gate, iteration, cap, report}: Returned): string {
  const title = family === 'socrates' ? 'SOCRATES GATE' : 'AUTO-DEBUG ITERATION'
  const heading = `[${title} ${iteration}] The gate ${gate} returned the result (${iteration} of ${cap}).`
  return `${description.replace(earlier, '')}\n\n${heading}\n${report}`
}
