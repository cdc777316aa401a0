import {isUtf8} from 'node:buffer'
import {isObject} from '../../contracts/index.js'
import type {RecordFormat} from './mix-file.js'

/** Maximum length of a row, bytes. */
export const maxRowBytes = 16 << 20

/** A row of the output, or the reason why a line is not a row. */
export type MixedRow = {text: string; lane: string} | {fault: string}

type Row = Readonly<Record<string, unknown>>

/**
 * Converts a line of a source to a row of the output, and adds metadata that it lacks: `lane`, `response_mode`,
 * `task_family` and `origin`. A row that needs no conversion keeps its text, including numbers of any precision.
 */
export function mixedRow(line: Buffer, format: RecordFormat | undefined): MixedRow {
  if (line.length > maxRowBytes) return {fault: `it is longer than ${maxRowBytes >> 20} MiB`}
  if (!isUtf8(line)) return {fault: 'it is not UTF-8'}
  const text = line.toString().trim()
  const row = parseRow(text)
  if (typeof row === 'string') return {fault: row}
  const fault = faultOf(row, {}, {category: 'string', source: 'string', lane: 'string', ...metadataTypes})
  if (fault !== undefined) return {fault}
  const converted = format === undefined ? row : converters[format](row)
  if (typeof converted === 'string') return {fault: converted}
  const {lane, ...others} = metadataOf(row, format)
  const added = Object.fromEntries(Object.entries({lane, ...others}).filter(([key]) => !(key in converted)))
  return {lane, text: converted === row ? withMembers(text, row, added) : JSON.stringify({...converted, ...added})}
}

const metadataTypes = {response_mode: 'string', task_family: 'string', origin: 'string'} as const

/** Returns a JSON object, or the reason why the text is none. */
function parseRow(text: string): Row | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'it is not JSON'
  }
  return isObject(value) ? (value as Row) : 'it is not a JSON object'
}

/** Adds members at the end of the text of an object. */
function withMembers(text: string, row: Row, added: Row): string {
  if (Object.keys(added).length === 0) return text
  const separator = Object.keys(row).length === 0 ? '' : ','
  return `${text.slice(0, -1)}${separator}${JSON.stringify(added).slice(1)}`
}

type Types = Readonly<Record<string, 'string' | 'number'>>

/** Returns what is wrong with the members of a row. */
function faultOf(row: Row, required: Types, optional: Types): string | undefined {
  for (const [key, type] of Object.entries({...optional, ...required}))
    if (typeof row[key] !== type && (key in row || key in required)) return `${key} must be a ${type}`
  return undefined
}

/** Instruction before a recognised text. */
const correctionInstruction =
  'Correct the recognition errors in this transcript. Answer with the corrected transcript only.'

/** Instruction before a spoken request. */
const codeInstruction = 'Write the code that this transcript of speech asks for. Answer with the code only.'

/** A row as prompt and response, or the reason why it cannot be converted. A row that is already one is unchanged. */
const converters: Readonly<Record<RecordFormat, (row: Row) => Row | string>> = {
  asr_refine: (row) => {
    if (isPromptPair(row)) return row
    const fault = faultOf(row, {noisy_text: 'string', corrected_text: 'string'}, {rating: 'number'})
    if (fault !== undefined) return fault
    if ('rating' in row && !isRating(row.rating)) return 'rating must be an integer from 1 to 5'
    const prompt = `${correctionInstruction}\n\n${row.noisy_text}`
    return pairOf(row, {prompt, response: row.corrected_text, category: 'asr_refine'})
  },
  speech_to_code: (row) => {
    if (isPromptPair(row)) return row
    const fault = faultOf(row, {refined_transcript: 'string', svc_code: 'string'}, {rating: 'number'})
    if (fault !== undefined) return fault
    const alternatives = row.transcript_alternatives ?? []
    if (!Array.isArray(alternatives) || alternatives.some((text) => typeof text !== 'string'))
      return 'transcript_alternatives must be an array of strings'
    const list = alternatives.filter((text) => text !== row.refined_transcript).map((text) => `- ${text}`)
    const readings = list.length === 0 ? '' : `\n\nAlternative readings:\n${list.join('\n')}`
    const prompt = `${codeInstruction}\n\n${row.refined_transcript}${readings}`
    return pairOf(row, {prompt, response: row.svc_code, category: 'speech_to_code'})
  },
  tool_trace: (row) => withCategory(row, 'tool_trace'),
  workflow_trace: (row) => withCategory(row, 'workflow_trace'),
}

const isPromptPair = ({prompt, response}: Row) => typeof prompt === 'string' && typeof response === 'string'

const isRating = (rating: unknown) => Number.isInteger(rating) && Number(rating) >= 1 && Number(rating) <= 5

const withCategory = (row: Row, category: string): Row => ('category' in row ? row : {...row, category})

/** Members that a converted row keeps. */
const kept = ['category', 'rating', 'lane', ...Object.keys(metadataTypes)]

const pairOf = (row: Row, pair: Row): Row => ({
  ...pair,
  ...Object.fromEntries(kept.filter((key) => key in row).map((key) => [key, row[key]])),
})

/** The metadata of a row: its own, or derived from its category, which is by default the format of its source. */
function metadataOf(row: Row, format: RecordFormat | undefined) {
  const category = String(row.category ?? format ?? '')
  const lane = String(row.lane ?? laneOf(category))
  return {
    lane,
    response_mode:
      row.response_mode ?? (lane === 'svc_docs_qa' || category.includes('asr_refine') ? 'prose_only' : 'code_only'),
    task_family: row.task_family ?? (category || 'general'),
    origin: row.origin ?? originOf(row, category),
  }
}

function laneOf(category: string): string {
  if (/speech|asr_refine/.test(category)) return 'svc_speech'
  if (category.includes('tool_trace')) return 'svc_tooling'
  return category.includes('documentation') ? 'svc_docs_qa' : 'svc_codegen'
}

function originOf({source}: Row, category: string): string {
  if (source === 'synthetic') return 'synthetic'
  return source === 'agent' || /(tool|workflow)_trace/.test(category) ? 'agent' : 'human'
}
