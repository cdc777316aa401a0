import {contractSchema, isObject, plainViolations, type Schema} from '../../contracts/index.js'
import {parseExactJson} from '../../files/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'

/** Keys of the context store with the current context envelope of a session. */
export const envelopePrefix = 'context_envelope:'
export const envelopeKey = (sessionId: string): string => `${envelopePrefix}${sessionId}`

/** Time for which the envelope of a task is the current one of its session, in seconds. */
export const envelopeTtlSecs = 3600

/** Maximum length of an envelope in characters. */
export const maxEnvelopeLength = 262_144

const contract = 'orchestration/context-envelope.v1'
let schema: Schema | undefined

/**
 * Checks a context envelope: always that it is a JSON object, and against its contract if a setting requires that.
 * @param refuse throws an error with a fault of the thing that contains the envelope
 * @returns the first violations, if they are only to be recorded
 */
export function checkEnvelope(
  text: string,
  {config, now}: Pick<WorkspaceContext, 'config' | 'now'>,
  refuse: (fault: string) => never,
): string[] {
  if (text.length > maxEnvelopeLength)
    refuse(`its context envelope has ${text.length} characters; the limit is ${maxEnvelopeLength}`)
  const envelope = parseObject(text)
  if (typeof envelope === 'string') return refuse(`its context envelope ${envelope}`)
  if (!config.contextLifecycleEnforce && !config.contextLifecycleShadow) return []
  const violations = violationsOf(envelope, now())
  if (config.contextLifecycleEnforce && violations.length > 0)
    refuse(`its context envelope does not match the contract ${contract} (${violations.join('; ')})`)
  return violations
}

/** Maximum number of violations in an error or an event. */
const maxViolations = 8

function violationsOf(envelope: Readonly<Record<string, unknown>>, nowMs: number): string[] {
  schema ??= contractSchema(contract)
  const all = [...plainViolations(schema, envelope), ...expiryOf(envelope, nowMs)]
  return all.length <= maxViolations ? all : [...all.slice(0, maxViolations), `and ${all.length - maxViolations} more`]
}

function expiryOf(envelope: Readonly<Record<string, unknown>>, nowMs: number): string[] {
  const {created_at_unix_ms: created, expires_at_unix_ms: expires, ttl_seconds: ttl} = envelope
  if (typeof expires === 'number' && expires <= nowMs) return ['/expires_at_unix_ms is in the past']
  const hasEnded = typeof created === 'number' && typeof ttl === 'number' && created + ttl * 1000 <= nowMs
  return hasEnded ? ['/ttl_seconds ended in the past'] : []
}

/** An object in JSON text, or what is wrong with the text, as the end of a sentence. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | string {
  let value: unknown
  try {
    value = parseExactJson(text)
  } catch (error) {
    return `is not valid JSON (${(error as Error).message.replaceAll('\n', ' ')})`
  }
  return isObject(value) ? value : 'is not a JSON object'
}
