import {fencedBlocks} from '../fences.js'

/** The JSON of an answer or of its only fenced block, as text; or why there is none. */
export function readJsonAnswer(answer: string): {json: string} | {reason: string} {
  const [block, ...more] = fencedBlocks(answer.trim())
  const text = (block?.isClosed && more.length === 0 ? block.content : answer).trim()
  try {
    JSON.parse(text)
    return {json: text}
  } catch (error) {
    return {reason: oneLine((error as Error).message)}
  }
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 200).replace(/\.$/, '')
