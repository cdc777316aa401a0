/** The known fields of an answer of the language model. */
import {isObject} from '../../contracts/index.js'
export type PolishAnswer = {
  corrected_text?: string
  confidence?: number
  changes?: readonly {before: string; after: string}[]
  keep_original?: boolean
}

const text = {type: 'string'} as const

/** JSON Schema of an answer. `parsePolishAnswer` still checks it, because not every server enforces schemas. */
export const polishSchema = {
  anyOf: [
    {
      type: 'object',
      properties: {
        corrected_text: text,
        confidence: {type: 'number', minimum: 0, maximum: 1},
        changes: {
          type: 'array',
          items: {
            type: 'object',
            properties: {before: text, after: text},
            required: ['before', 'after'],
            additionalProperties: false,
          },
        },
        keep_original: {type: 'boolean'},
      },
      required: ['corrected_text'],
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: {keep_original: {const: true}},
      required: ['keep_original'],
      additionalProperties: false,
    },
  ],
} as const

export type AnswerFault =
  | {reason: 'parse_failed'; error: string; raw_preview: string}
  | {reason: 'changes_schema_invalid' | 'confidence_out_of_range'}

/** Longest answer that is parsed, UTF-16 code units. */
const maxAnswerLength = 1 << 18

/** Length of the start of an unparsable answer in the report, code points. */
const previewLength = 512

/** Parses the answer of the model. Unknown fields, and texts that are not strings, are dropped; null counts as absent. */
export function parsePolishAnswer(raw: string): {answer: PolishAnswer} | {fault: AnswerFault} {
  const parsed = parseObject(raw)
  if ('error' in parsed) return {fault: {reason: 'parse_failed', error: parsed.error, raw_preview: previewOf(raw)}}
  const {corrected_text: text, confidence, changes, keep_original: keep} = parsed.fields
  const list = changes ?? undefined
  if (list !== undefined && !isChanges(list)) return {fault: {reason: 'changes_schema_invalid'}}
  const share = confidence ?? undefined
  if (share !== undefined && !isShare(share)) return {fault: {reason: 'confidence_out_of_range'}}
  return {
    answer: {
      ...(typeof text === 'string' ? {corrected_text: text} : {}),
      ...(share === undefined ? {} : {confidence: share}),
      ...(list === undefined ? {} : {changes: list.map(({before, after}) => ({before, after}))}),
      ...(typeof keep === 'boolean' ? {keep_original: keep} : {}),
    },
  }
}

function parseObject(raw: string): {fields: Readonly<Record<string, unknown>>} | {error: string} {
  if (raw.length > maxAnswerLength) return {error: `The answer is longer than ${maxAnswerLength} characters.`}
  try {
    const value: unknown = JSON.parse(withoutFence(raw))
    if (isObject(value)) return {fields: value as Readonly<Record<string, unknown>>}
    return {error: 'The answer is not a JSON object.'}
  } catch {
    // The message of the parser repeats a part of the answer, which the preview shows.
    return {error: 'The answer is not valid JSON.'}
  }
}

/** Removes the fence of a Markdown code block around the text. */
function withoutFence(raw: string): string {
  const [, content] = /^```[^\n`]*\n(.*)\n[ \t]*```$/s.exec(raw.trim()) ?? []
  return content ?? raw
}

const previewOf = (raw: string): string => [...raw.slice(0, 2 * previewLength)].slice(0, previewLength).join('')

const isShare = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1

const isChanges = (value: unknown): value is {before: string; after: string}[] =>
  Array.isArray(value) &&
  value.every((change) => {
    const {before, after} = Object(change) as {before?: unknown; after?: unknown}
    return typeof before === 'string' && typeof after === 'string'
  })
