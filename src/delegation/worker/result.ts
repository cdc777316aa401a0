import {withoutUndefined} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {redact} from '../../log/index.js'
import type {RemoteResult} from '../../mesh/index.js'
import type {KeptOutput} from '../../process/index.js'
import type {Outcome} from '../../scheduler/index.js'
import type {Delegation} from './job.js'
import type {WrittenFile} from './work-folder.js'

/** Maximum size of the end of a command's output in a result, and in a heartbeat, bytes. */
export const maxOutputBytes = 65_536
export const maxProgressBytes = 8192

interface Run {
  node: string
  durationMs: number
  output: string | undefined
}

/** The end of the output of a command. */
export function outputTail(output: KeptOutput | undefined, maxBytes: number): string | undefined {
  const pieces = output?.since(Math.max(0, output.total - maxBytes)) ?? []
  return pieces.length === 0 ? undefined : Buffer.concat(pieces.map(({bytes}) => bytes)).toString('utf8')
}

export const successResult = (
  delegation: Delegation,
  run: Run,
  {text, details, usage}: Outcome,
  files: readonly WrittenFile[],
): RemoteResult =>
  resultOf(delegation, run, {
    success: true,
    result: text,
    files,
    details,
    usage,
  })

export function failureResult(delegation: Delegation, run: Run, error: unknown): RemoteResult {
  const {code, message, params} = SvcError.from(error)
  const {exitCode} = params as {exitCode?: number}
  const details = withoutUndefined({error_code: code, exit_code: exitCode})
  return resultOf(delegation, run, {success: false, error: `${code}: ${message}`, details})
}

type Outcomes = Pick<RemoteResult, 'success'> & {
  [K in 'result' | 'error' | 'files' | 'details' | 'usage']?: RemoteResult[K] | undefined
}

/** Secrets are redacted member by member, because the name `fence_token` looks like that of a secret. */
function resultOf(delegation: Delegation, {node, durationMs, output}: Run, outcome: Outcomes): RemoteResult {
  const {idempotency_key, task_id, exec_lease_id, fence_token} = delegation
  return {
    idempotency_key,
    task_id,
    worker_node_id: node,
    duration_ms: Math.max(0, Math.round(durationMs)),
    ...withoutUndefined({exec_lease_id, fence_token}),
    ...wellFormed(redact(withoutUndefined({...outcome, output}))),
  } as RemoteResult
}

/** Lone surrogates have no UTF-8 encoding, so the control plane rejects them. */
const wellFormed = <T>(value: T): T => mapTexts(value, (text) => text.replace(/\p{Cs}/gu, '\ufffd')) as T

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [map(name), mapTexts(member, map)]))
}

/** Maximum length of `details` in the protocol, characters of JSON. */
const maxDetails = 262_144
/** Lengths to which texts are cut, characters, until the result fits. */
const lengths = [131_072, 65_536, 16_384, 4096, 1024, 256, 64]

/**
 * Shortens the texts of a result until its message fits in a request. Adds `truncated` to the details if something was
 * cut. A result that does not fit even then becomes a failure.
 * @param maxBytes maximum size of the payload as a JSON string
 */
export function fitResult(result: RemoteResult, maxBytes: number): RemoteResult {
  if (fits(result, maxBytes)) return result
  for (const length of lengths) {
    const shorter = shortened(result, length)
    if (fits(shorter, maxBytes)) return shorter
  }
  const {success: _, result: __, output: ___, details: ____, files: _____, usage: ______, ...identity} = result
  const {code, message} = new SvcError('task_run_failed', {
    reason: `its result does not fit in a message of ${maxBytes} bytes`,
  })
  return {...identity, success: false, error: `${code}: ${message}`, details: {error_code: code, truncated: true}}
}

/** The payload is JSON text within a JSON document, so it is escaped twice. */
const fits = (result: RemoteResult, maxBytes: number): boolean =>
  Buffer.byteLength(JSON.stringify(JSON.stringify(result))) <= maxBytes &&
  JSON.stringify(result.details ?? {}).length <= maxDetails

function shortened(result: RemoteResult, length: number): RemoteResult {
  const cut = (text: string) => cutMiddle(text, length)
  const {result: text, error, output, details = {}} = result
  const short = mapTexts(details, cut) as object
  return {
    ...result,
    ...withoutUndefined({
      result: text && cut(text),
      error: error && cut(error),
      output: output?.slice(-length).replace(/^[\udc00-\udfff]/, ''),
    }),
    details: {...(JSON.stringify(short).length <= 4 * length ? short : {}), truncated: true},
  }
}

function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text
  const half = Math.floor(length / 2)
  const [start, end] = [text.slice(0, half), text.slice(-half)]
  const cut = `${start}\n[${text.length - 2 * half} characters are missing here]\n${end}`
  return cut.replace(/\p{Cs}/gu, '\ufffd')
}
