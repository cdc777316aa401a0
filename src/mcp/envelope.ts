import type {Schema} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {DetailedError} from '../operations/index.js'

/** What every tool answers with. Members that have nothing to say are left out. */
export interface Envelope {
  success: boolean
  data?: unknown
  /** What went wrong: one sentence. */
  error?: string
  /** The same for programs. */
  code?: string
  /** What to do about it: one sentence. */
  remediation?: string
  meta?: Readonly<Record<string, unknown>>
}

/** What a tool gave. */
export interface Answer {
  data: unknown
  meta?: Readonly<Record<string, unknown>>
}

/** Why a tool gave nothing. */
export interface Fault {
  error: SvcError
  meta?: Readonly<Record<string, unknown>>
}

const withMeta = (...parts: (Readonly<Record<string, unknown>> | undefined)[]) => {
  const meta = Object.assign({}, ...parts)
  return Object.keys(meta).length === 0 ? {} : {meta}
}

export const success = ({data, meta}: Answer, more: Readonly<Record<string, unknown>> = {}): Envelope => ({
  success: true,
  ...(data === undefined ? {} : {data}),
  ...withMeta(more, meta),
})

/** Whatever was thrown; what went wrong inside is for the log, not for a client. */
export function faultOf(thrown: unknown): Fault {
  const error = SvcError.from(thrown)
  return error instanceof DetailedError ? {error, meta: error.meta} : {error}
}

export function failure({error, meta}: Fault, more: Readonly<Record<string, unknown>> = {}): Envelope {
  const {code, message, hint} =
    error.code === 'internal' ? new SvcError('internal', {reason: 'the log of the server says more'}) : error
  const body = {success: false, error: message, code: code as string, remediation: hint}
  if (code !== 'params_invalid') return {...body, ...withMeta(more, meta)}
  const {violations} = error.params as {violations: readonly string[]}
  return {...body, code: 'invalid_arguments', ...withMeta(more, meta, {issues: violations.map(issueOf)})}
}

/** `/limit must be <= 1000`, or a sentence about the whole. */
function issueOf(violation: string): {path: string; message: string} {
  const [, path = '', message = violation] = /^(\/\S*) (.*)$/s.exec(violation) ?? []
  return {path, message: message.replace(/^the document /, '')}
}

/**
 * The schema of an envelope with such data, which is not there where the call failed; what is there then, every envelope
 * has alike. Definitions that the data refers to are those of the whole.
 */
export function envelopeSchema({$defs, ...data}: Schema): Schema {
  return {
    type: 'object',
    properties: {success: {type: 'boolean'}, data},
    required: ['success'],
    ...($defs === undefined ? {} : {$defs}),
  }
}
