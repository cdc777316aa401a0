import type {Fields} from '../body.js'
import {readToolObjects, type StatedTools} from '../tools.js'

/** The tools of a request. Only functions can be called; the others are skipped. */
export interface ResponseTools extends StatedTools {
  /** Types of the skipped tools. */
  skipped: readonly string[]
}

/** A type that may be written in a header. */
const typeName = /^[\w.:-]{1,64}$/

/** @throws bad_request */
export function readTools(fields: Fields): ResponseTools {
  const all = readToolObjects(fields)
  const functions = all.filter((tool) => tool.string('type') === 'function')
  const others = all.filter((tool) => !functions.includes(tool)).map((tool) => tool.string('type') ?? '')
  const {allowed, choice} = readChoice(fields)
  return {
    named: allowed === undefined ? functions : functions.filter((tool) => allowed.includes(tool.string('name') ?? '')),
    schema: 'parameters',
    choice,
    parallel: fields.boolean('parallel_tool_calls') ?? true,
    skipped: [...new Set(others.map((type) => (typeName.test(type) ? type : 'unknown')))],
  }
}

interface Choice {
  choice: StatedTools['choice']
  /** Names of the tools that may be called; default: all. */
  allowed?: readonly string[]
}

function readChoice(fields: Fields): Choice {
  const value = fields.get('tool_choice') ?? 'auto'
  if (value === 'none' || value === 'auto' || value === 'required') return {choice: value}
  const stated = typeof value === 'string' ? undefined : fields.object('tool_choice')
  const type = stated?.string('type')
  const name = stated?.string('name')
  if (type === 'function' && name !== undefined) return {choice: {name}}
  if (stated === undefined || type !== 'allowed_tools')
    throw fields.wrong('tool_choice', 'be none, auto, required, allowed tools, or a function with a name')
  const mode = stated.string('mode') ?? 'auto'
  if (mode !== 'auto' && mode !== 'required') throw stated.wrong('mode', 'be auto or required')
  return {choice: mode, allowed: (stated.objects('tools') ?? []).map((tool) => tool.string('name') ?? '')}
}
