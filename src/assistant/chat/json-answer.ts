import {fencedBlocks} from '../fences.js'

/** Why an answer is not JSON. */
export interface JsonFault {
  /** A clause without text of the answer, because it is included in errors and logs. */
  reason: string
  /** The parser's message, for the model only. */
  detail: string
}

/** Extracts the JSON of an answer or of its only fenced block, as text; or the reason why there is none. */
export function readJsonAnswer(answer: string): {json: string} | JsonFault {
  const [block, ...more] = fencedBlocks(answer.trim())
  const text = (block?.isClosed && more.length === 0 ? block.content : answer).trim()
  try {
    JSON.parse(text)
    return {json: text}
  } catch (error) {
    const detail = oneLine((error as Error).message)
    return {reason: faultOf(text, detail), detail}
  }
}

function faultOf(text: string, detail: string): string {
  if (/end of JSON input|^Unterminated/.test(detail)) return 'the answer is incomplete'
  const position = /at position (\d+)/.exec(detail)?.[1]
  if (position === undefined) return 'the answer is not JSON'
  return `line ${text.slice(0, Number(position)).split('\n').length} is invalid`
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 200).replace(/\.$/, '')
