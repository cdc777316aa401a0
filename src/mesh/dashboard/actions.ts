import {SvcError} from '../../errors/index.js'
import type {MeshClient} from '../client/client.js'
import type {DeadOutcome} from '../protocol/message.js'
import {singleAttempt} from './read-state.js'

type Body = Readonly<Record<string, unknown>>

/** Maximum duration of maintenance, minutes: one week. */
const maxMinutes = 7 * 24 * 60

/** Actions of the page by the last path segment. Bodies have the members of the control plane's routes. */
export const actions: Readonly<Record<string, (client: MeshClient, body: Body) => Promise<void>>> = {
  quarantine: (client, body) =>
    client.setQuarantine({node: text(body, 'node_id'), quarantined: flag(body, 'quarantined')}, singleAttempt),
  maintenance: (client, body) =>
    client.setMaintenance(
      {node: text(body, 'node_id'), maintenance: flag(body, 'maintenance'), forMs: durationOf(body)},
      singleAttempt,
    ),
  'revoke-lease': (client, body) => client.revokeLease(text(body, 'lease_id'), singleAttempt),
  'retry-dead': async (client, body) =>
    requireFound(await client.retryDead([number(body, 'message_id')], singleAttempt)),
  'drop-dead': async (client, body) => requireFound(await client.dropDead([number(body, 'message_id')], singleAttempt)),
}

/** @throws missing_field */
function text(body: Body, field: string): string {
  const value = body[field]
  if (typeof value !== 'string' || value === '')
    throw new SvcError('missing_field', {field, expected: 'a non-empty string'})
  return value
}

/** @throws missing_field */
function flag(body: Body, field: string): boolean {
  const value = body[field]
  if (typeof value !== 'boolean') throw new SvcError('missing_field', {field, expected: 'true or false'})
  return value
}

/** @throws missing_field */
function number(body: Body, field: string): number {
  const value = body[field]
  if (!Number.isSafeInteger(value)) throw new SvcError('missing_field', {field, expected: 'an integer'})
  return value as number
}

/** @throws dead_message_not_found */
function requireFound({not_found: [missing]}: DeadOutcome): void {
  if (missing !== undefined) throw new SvcError('dead_message_not_found', {message: missing})
}

/** Duration of maintenance, ms; undefined for no limit. @throws missing_field */
function durationOf({minutes}: Body): number | undefined {
  if (minutes === undefined || minutes === null) return undefined
  if (typeof minutes === 'number' && Number.isInteger(minutes) && minutes >= 1 && minutes <= maxMinutes)
    return minutes * 60_000
  throw new SvcError('missing_field', {field: 'minutes', expected: `an integer from 1 to ${maxMinutes}`})
}
