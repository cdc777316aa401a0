import type {CallToolResult, ContentBlock} from '@modelcontextprotocol/server'
import type {Schema} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {DetailedError} from '../operations/index.js'

/** Result of every tool. */
export interface Envelope {
  success: boolean
  data?: unknown
  /** Error message: one sentence. */
  error?: string
  code?: string
  /** How to fix the error: one sentence. */
  remediation?: string
  meta?: Readonly<Record<string, unknown>>
}

/** Successful result of a tool. */
export interface Answer {
  data: unknown
  meta?: Readonly<Record<string, unknown>>
  /** Content for the model; by default, it reads the envelope. */
  content?: readonly ContentBlock[]
}

export interface ToolError {
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

export function toToolError(thrown: unknown): ToolError {
  const error = SvcError.from(thrown)
  return error instanceof DetailedError ? {error, meta: error.meta} : {error}
}

/** Details of internal errors are only logged: they may contain paths and data that a client must not see. */
export function failure({error, meta}: ToolError, more: Readonly<Record<string, unknown>> = {}): Envelope {
  const {code, message, hint} =
    error.code === 'internal' ? new SvcError('internal', {reason: 'see the server log for details'}) : error
  const body = {success: false, error: message, code: code as string, remediation: hint}
  if (code !== 'params_invalid') return {...body, ...withMeta(more, meta)}
  const {violations} = error.params as {violations: readonly string[]}
  return {...body, code: 'invalid_arguments', ...withMeta(more, meta, {issues: violations.map(issueOf)})}
}

/** Result of a tool as the protocol defines it. */
export const asResult = (envelope: Envelope, content?: readonly ContentBlock[]): CallToolResult => ({
  content: content === undefined ? [{type: 'text', text: JSON.stringify(envelope)}] : [...content],
  structuredContent: {...envelope},
  isError: !envelope.success,
})

/** Splits `/limit must be <= 1000` into path and message; a violation of the whole document has the path ''. */
function issueOf(violation: string): {path: string; message: string} {
  const [, path = '', message = violation] = /^(\/\S*) (.*)$/s.exec(violation) ?? []
  return {path, message: message.replace(/^the document /, '')}
}

/**
 * Envelope schema for the given data schema. `data` is absent after an error; the error members are not listed, because
 * they are the same for every tool. `$defs` must move to the root, which the `$ref`s of the data are relative to.
 */
export function envelopeSchema({$defs, ...data}: Schema): Schema {
  return {
    type: 'object',
    properties: {success: {type: 'boolean'}, data},
    ...($defs === undefined ? {} : {$defs}),
  }
}
