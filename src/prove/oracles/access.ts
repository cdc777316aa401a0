import {mayUse, routes} from '../../mesh/index.js'
import type {History, Observed, RunEvent} from '../history/history.js'
import {numberOf} from './effect.js'
import {checkEach, combine, groupBy, type Oracle, violation} from './oracle.js'

/** The answer to a request that is not let in: a refusal, or that the server cannot say. */
const isRefusal = (status: number) => [401, 403, 413, 429].includes(status) || status >= 500

/** When a generation of tokens came, and when it was the only one. */
interface TokenValidity {
  /** From here on the server may know it. */
  from: number
  /** From here on it knows no other. */
  sureFrom: number
}

const isRotation = ({event}: RunEvent) => event === 'rotate_tokens'

function tokenValidities({events}: History): TokenValidity[] {
  const found: TokenValidity[] = [{from: -Infinity, sureFrom: -Infinity}]
  for (const {generation, at, until = Infinity, isTaken} of events.filter(isRotation))
    found[numberOf(generation)] = {from: at, sureFrom: isTaken === true ? until : Infinity}
  return found
}

/** A role uses its own part of the control plane, and tokens of before a rotation none. */
export const rolesHold: Oracle = (history) => {
  const validities = tokenValidities(history)
  const calls = history.calls.filter(
    ({operation, status, shown}) => status !== undefined && operation !== 'health' && shown.signed?.isForeign !== true,
  )
  const taken = checkEach(
    history.events.filter(isRotation),
    ({generation, isTaken}) => isTaken !== true && violation(`The server did not take the tokens ${generation}.`),
  )
  const admitted = checkEach(calls, ({id, operation, status = 0, code, shown, sent, answered}) => {
    const {role, generation, signed} = shown
    const {plane} = routes[operation]
    const next = validities[generation + 1]
    const isRetired = next !== undefined && sent >= next.sureFrom
    const isStranger = role === 'none' || role === 'garbage' || isRetired || !mayUse[plane].includes(role)
    const who = `${isRetired ? 'a retired ' : ''}${role}`
    // Everybody may know that there is no token for new nodes.
    if (isStranger && !isRefusal(status) && code !== 'bootstrap_disabled')
      return violation(`${operation} answered ${status} to ${who}.`, id)
    const isSure = sent >= (validities[generation]?.sureFrom ?? Infinity) && answered <= (next?.from ?? Infinity)
    const isShutOut = status === 401 || code === 'role_forbidden'
    // Those that work once, and the token for new nodes, have rules of their own.
    return (
      !isStranger &&
      isSure &&
      isShutOut &&
      signed === undefined &&
      plane !== 'bootstrap' &&
      violation(`${operation} answered ${status} to ${who}, which may use it.`, id)
    )
  })
  return combine(taken, admitted)
}

/** The token for new nodes works once, a wrong one does it no harm, and one that has expired does not work. */
export const bootstrapWorksOnce: Oracle = (history) => {
  const expired = new Set(
    history.events.filter(({bootstrap}) => bootstrap === 'expired').map(({generation}) => numberOf(generation)),
  )
  const right = history.calls.filter(
    ({operation, shown}) => operation === 'bootstrap_exchange' && shown.role === 'bootstrap',
  )
  const byToken = groupBy(right, ({shown}) => shown.generation)
  return combine(
    checkEach(byToken, ([generation, calls]) => {
      const given = calls.flatMap(({id, copies}) => copies.filter(({status}) => status === 200).map(() => id))
      const most = expired.has(generation) ? 0 : 1
      return (
        given.length > most &&
        violation(`The token for new nodes ${generation} worked ${given.length} times.`, ...given)
      )
    }),
    checkEach(right, (call) => {
      if (call.code !== 'bootstrap_consumed') return false
      const copies = (byToken.get(call.shown.generation) ?? []).flatMap((one) => one.copies)
      // An answer that was lost can have been the one that counts.
      const isUsed = copies.some(({status}) => status === 200 || status === undefined)
      return !isUsed && violation('The token for new nodes was used up without having worked.', call.id)
    }),
  )
}

/** Signed tokens of roles that change the mesh are good for one request, however often they are sent. */
export const signedTokensWorkOnce: Oracle = ({calls}) => {
  const single = calls.filter(
    ({shown}) =>
      shown.signed !== undefined && !shown.signed.isForeign && (shown.role === 'admin' || shown.role === 'mesh'),
  )
  return checkEach(
    groupBy(single, ({shown}) => shown.signed?.id),
    ([token, shown]) => {
      const taken = shown.flatMap(({id, copies}) =>
        copies.filter(({status}) => status !== undefined && status !== 401 && !isRefusal(status)).map(() => id),
      )
      return taken.length > 1 && violation(`The signed token ${token} was taken ${taken.length} times.`, ...taken)
    },
  )
}

/** Nobody from another scope joins, is listed, or is let in. */
export const scopesAreApart: Oracle = (history) => {
  const {calls, rows, scope} = history
  const fromElsewhere = ({shown, operation, args}: Observed) =>
    (shown.signed?.isForeign === true && operation !== 'health') || isForeigner(args, scope)
  return combine(
    checkEach(
      calls.filter((call) => call.status !== undefined && fromElsewhere(call)),
      ({id, operation, status = 0}) =>
        !isRefusal(status) && violation(`${operation} answered ${status} to another scope.`, id),
    ),
    checkEach(
      [...rows.nodes, ...rows.messages, ...rows.leases],
      (row) => row.scope_id !== scope && violation(`The file has a row of the scope ${row.scope_id}.`),
    ),
  )
}

const isForeigner = ({scope_id: given}: Observed['args'], scope: string) => given !== undefined && given !== scope
