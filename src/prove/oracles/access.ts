import {mayUse, routes} from '../../mesh/index.js'
import type {History, Observed, RunEvent} from '../history/history.js'
import {numberOf} from './effect.js'
import {checkEach, combine, groupBy, type Oracle, violation} from './oracle.js'

/** Statuses that do not admit a request: refusals and server errors. */
const isRefusal = (status: number) => [401, 403, 413, 429].includes(status) || status >= 500

/** Validity of a generation of tokens; times in ms. */
interface TokenValidity {
  /** The server may accept it from this time on. */
  from: number
  /** The server accepts only this generation from this time on. */
  sureFrom: number
}

const isRotation = ({event}: RunEvent) => event === 'rotate_tokens'

function tokenValidities({events}: History): TokenValidity[] {
  const found: TokenValidity[] = [{from: -Infinity, sureFrom: -Infinity}]
  for (const {generation, at, until = Infinity, isTaken} of events.filter(isRotation))
    found[numberOf(generation)] = {from: at, sureFrom: isTaken === true ? until : Infinity}
  return found
}

/** Each role can use exactly its own routes, and tokens from before a rotation none. */
export const rolesHold: Oracle = (history) => {
  const validities = tokenValidities(history)
  const calls = history.calls.filter(
    ({operation, status, shown}) => status !== undefined && operation !== 'health' && shown.signed?.isForeign !== true,
  )
  const taken = checkEach(
    history.events.filter(isRotation),
    ({generation, isTaken}) =>
      isTaken !== true && violation(`The server did not accept token generation ${generation}.`),
  )
  const admitted = checkEach(calls, ({id, operation, status = 0, code, shown, sent, answered}) => {
    const {role, generation, signed} = shown
    const {plane} = routes[operation]
    const next = validities[generation + 1]
    const isRetired = next !== undefined && sent >= next.sureFrom
    const isStranger = role === 'none' || role === 'garbage' || isRetired || !mayUse[plane].includes(role)
    const who = `${isRetired ? 'retired ' : ''}${role}`
    // Any client may learn that bootstrap tokens are disabled.
    if (isStranger && !isRefusal(status) && code !== 'bootstrap_disabled')
      return violation(`${operation} returned ${status} for a ${who} token.`, id)
    const isSure = sent >= (validities[generation]?.sureFrom ?? Infinity) && answered <= (next?.from ?? Infinity)
    const isShutOut = status === 401 || code === 'role_forbidden'
    // Signed and bootstrap tokens are checked by oracles of their own.
    return (
      !isStranger &&
      isSure &&
      isShutOut &&
      signed === undefined &&
      plane !== 'bootstrap' &&
      violation(`${operation} returned ${status} for a valid ${who} token.`, id)
    )
  })
  return combine(taken, admitted)
}

/** The bootstrap token works once, wrong guesses do not consume it, and an expired one does not work. */
export const bootstrapWorksOnce: Oracle = (history) => {
  const expired = new Set(
    history.events.filter(({bootstrap}) => bootstrap === 'expired').map(({generation}) => numberOf(generation)),
  )
  const exchanges = history.calls.filter(
    ({operation, shown}) => operation === 'bootstrap_exchange' && shown.role === 'bootstrap',
  )
  const byToken = groupBy(exchanges, ({shown}) => shown.generation)
  return combine(
    checkEach(byToken, ([generation, calls]) => {
      const successes = calls.flatMap(({id, copies}) => copies.filter(({status}) => status === 200).map(() => id))
      const max = expired.has(generation) ? 0 : 1
      return (
        successes.length > max &&
        violation(`Bootstrap token ${generation} was accepted ${successes.length} times.`, ...successes)
      )
    }),
    checkEach(exchanges, (call) => {
      if (call.code !== 'bootstrap_consumed') return false
      const copies = (byToken.get(call.shown.generation) ?? []).flatMap((one) => one.copies)
      // A lost response may have been the successful one.
      const isUsed = copies.some(({status}) => status === 200 || status === undefined)
      return !isUsed && violation('The bootstrap token was consumed without having been accepted.', call.id)
    }),
  )
}

/** Signed tokens of the roles admin and mesh are valid for one request. */
export const signedTokensWorkOnce: Oracle = ({calls}) => {
  const single = calls.filter(
    ({shown}) =>
      shown.signed !== undefined && !shown.signed.isForeign && (shown.role === 'admin' || shown.role === 'mesh'),
  )
  return checkEach(
    groupBy(single, ({shown}) => shown.signed?.id),
    ([token, shown]) => {
      const accepted = shown.flatMap(({id, copies}) =>
        copies.filter(({status}) => status !== undefined && status !== 401 && !isRefusal(status)).map(() => id),
      )
      return (
        accepted.length > 1 && violation(`Signed token ${token} was accepted ${accepted.length} times.`, ...accepted)
      )
    },
  )
}

/** Nodes of another scope cannot join, are not listed, and are not admitted. */
export const scopesAreApart: Oracle = (history) => {
  const {calls, rows, scope} = history
  const fromElsewhere = ({shown, operation, args}: Observed) =>
    (shown.signed?.isForeign === true && operation !== 'health') || isForeigner(args, scope)
  return combine(
    checkEach(
      calls.filter((call) => call.status !== undefined && fromElsewhere(call)),
      ({id, operation, status = 0}) =>
        !isRefusal(status) && violation(`${operation} returned ${status} to a client of another scope.`, id),
    ),
    checkEach(
      [...rows.nodes, ...rows.messages, ...rows.leases],
      (row) => row.scope_id !== scope && violation(`The database contains a row of scope ${row.scope_id}.`),
    ),
  )
}

const isForeigner = ({scope_id: id}: Observed['args'], scope: string) => id !== undefined && id !== scope
