import {fencedBlocks} from '../fences.js'

/** Why an answer is no JSON. */
export interface JsonFault {
  /** A clause without a word of the answer: it gets into errors, and so into logs. */
  reason: string
  /** The same as the parser says it, for the model alone. */
  detail: string
}

/** The JSON of an answer or of its only fenced block, as text; or why there is none. */
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
  if (/end of JSON input|^Unterminated/.test(detail)) return 'it ends in the middle'
  const position = /at position (\d+)/.exec(detail)?.[1]
  if (position === undefined) return 'it is something else'
  return `line ${text.slice(0, Number(position)).split('\n').length} cannot be read`
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 200).replace(/\.$/, '')
