import {budget, TemplateError} from './budget.js'
import {Dict, Float, floatText, isTrue, none, numberOf, textOf, typeName, type Value} from './values.js'

export interface JsonOptions {
  asciiOnly: boolean
  /** Undefined writes one line. */
  indent: string | undefined
  separators: readonly [item: string, key: string]
  sortKeys: boolean
}

/** Python's `json.dumps`. */
export function toJson(
  value: Value,
  {asciiOnly, indent, separators: [itemEnd, keyEnd], sortKeys}: JsonOptions,
): string {
  const text = (content: string) => {
    budget.create(content.length)
    const json = JSON.stringify(content)
    return asciiOnly
      ? json.replaceAll(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      : json
  }
  const enclose = (open: string, parts: readonly string[], close: string, depth: number) => {
    if (parts.length === 0) return open + close
    const lineLength = indent === undefined ? 0 : 1 + indent.length * (depth + 1)
    budget.create(parts.reduce((sum, {length}) => sum + length + itemEnd.length + lineLength, lineLength))
    if (indent === undefined) return open + parts.join(itemEnd) + close
    const line = `\n${indent.repeat(depth + 1)}`
    return `${open}${line}${parts.join(itemEnd + line)}\n${indent.repeat(depth)}${close}`
  }
  const write = (each: Value, depth: number): string => {
    budget.spend(1)
    if (typeof each === 'string') return text(each)
    if (typeof each === 'boolean') return String(each)
    if (each === none) return 'null'
    if (typeof each === 'number') return String(each)
    if (each instanceof Float) return jsonFloat(each.value)
    if (Array.isArray(each))
      return enclose(
        '[',
        each.map((item) => write(item, depth + 1)),
        ']',
        depth,
      )
    if (!(each instanceof Dict)) throw new TemplateError(`Object of type ${typeName(each)} is not JSON serializable`)
    const entries = each.entries().map(([key, item]) => [keyText(key), item] as const)
    if (sortKeys) entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    const parts = entries.map(([key, item]) => `${text(key)}${keyEnd}${write(item, depth + 1)}`)
    return enclose('{', parts, '}', depth)
  }
  return write(value, 0)
}

const jsonFloat = (value: number) =>
  Number.isNaN(value) ? 'NaN' : Number.isFinite(value) ? floatText(value) : value < 0 ? '-Infinity' : 'Infinity'

function keyText(key: Value): string {
  if (typeof key === 'string') return key
  if (typeof key === 'boolean') return String(isTrue(key))
  if (key === none) return 'null'
  if (numberOf(key) !== undefined) return textOf(key)
  throw new TemplateError(`keys must be str, int, float, bool or None, not ${typeName(key)}`)
}
