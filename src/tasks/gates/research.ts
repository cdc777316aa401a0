import {error} from './findings.js'
import type {Gate} from './gate.js'

/** Requires that the summary of a research task is JSON. */
export const research: Gate = {
  name: 'research',
  family: 'debug',
  mode: ({task}) => (task.category === 'research' ? 'enforce' : 'off'),
  evaluate: ({summary}) =>
    isJsonDocument(withoutFence(summary.trim()))
      ? []
      : [error('research/not-json', 'The summary of a research task must be a JSON object or array.')],
}

const fence = '```'

/** Removes a Markdown code fence around the complete text. */
function withoutFence(text: string): string {
  const [first = '', ...rest] = text.split('\n')
  if (!/^```(?:json)?[ \t\r]*$/i.test(first) || rest.at(-1)?.trim() !== fence) return text
  return rest.slice(0, -1).join('\n')
}

function isJsonDocument(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}
