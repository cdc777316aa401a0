import {mayUse, routes} from '../../mesh/index.js'
import type {History, Observed, RunEvent} from '../history/history.js'
import {numberOf} from './effect.js'
import {examine, groupBy, type Oracle, together} from './oracle.js'

/** What a request may be told that is not let in: that, or that the server cannot say. */
const isRefusal = (status: number) => [401, 403, 413, 429].includes(status) || status >= 500

/** When a generation of tokens came, and when it was the only one. */
interface Reign {
  /** From here on the server may know it. */
  from: number
  /** From here on it knows no other. */
  sureFrom: number
}

function reigns({events}: History): Reign[] {
  const rotations = events.filter(({event}) => event === 'rotate_tokens')
  const first: Reign = {from: -Infinity, sureFrom: -Infinity}
  return rotations.reduce(
    (all: Reign[], event: RunEvent) => {
      all[numberOf(event.generation)] = {
        from: event.at,
        sureFrom: event.isTaken === true ? (event.until ?? Infinity) : Infinity,
      }
      return all
    },
    [first],
  )
}

/** A role uses its own part of the control plane, and tokens of before a rotation none. */
export const rolesHold: Oracle = (history) => {
  const reign = reigns(history)
  const calls = history.calls.filter(
    ({operation, status, shown}) => status !== undefined && operation !== 'health' && shown.signed?.isForeign !== true,
  )
  const rotations = history.events.filter(({event}) => event === 'rotate_tokens')
  const taken = examine(rotations, ({generation, isTaken}) =>
    isTaken === true ? undefined : {what: `The server did not take the tokens ${generation}.`, calls: []},
  )
  const admitted = examine(calls, ({id, operation, status = 0, code, shown, sent, answered}) => {
    const {role, generation, signed} = shown
    const {plane} = routes[operation]
    const next = reign[generation + 1]
    const isRetired = next !== undefined && sent >= next.sureFrom
    const isStranger = role === 'none' || role === 'garbage' || isRetired || !mayUse[plane].includes(role)
    const who = `${isRetired ? 'a retired ' : ''}${role}`
    // That there is no token for new nodes is told to everybody.
    if (isStranger && !isRefusal(status) && code !== 'bootstrap_disabled')
      return {what: `${operation} answered ${status} to ${who}.`, calls: [id]}
    const isSure = sent >= (reign[generation]?.sureFrom ?? Infinity) && answered <= (next?.from ?? Infinity)
    const isShutOut = status === 401 || code === 'role_forbidden'
    // Those that work once, and the token for new nodes, have rules of their own.
    return !isStranger && isSure && isShutOut && signed === undefined && plane !== 'bootstrap'
      ? {what: `${operation} answered ${status} to ${who}, which may use it.`, calls: [id]}
      : undefined
  })
  return together(taken, admitted)
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
  return together(
    examine(byToken, ([generation, calls]) => {
      const given = calls.flatMap(({id, copies}) => copies.filter(({status}) => status === 200).map(() => id))
      if (given.length > (expired.has(generation) ? 0 : 1))
        return {what: `The token for new nodes ${generation} worked ${given.length} times.`, calls: given}
      return undefined
    }),
    examine(right, (call) => {
      if (call.code !== 'bootstrap_consumed') return undefined
      const copies = (byToken.get(call.shown.generation) ?? []).flatMap((one) => one.copies)
      // An answer that was lost can have been the one that counts.
      const isUsed = copies.some(({status}) => status === 200 || status === undefined)
      return isUsed ? undefined : {what: 'The token for new nodes was used up without having worked.', calls: [call.id]}
    }),
  )
}

/** Signed tokens of roles that change the mesh are good for one request, however often they are sent. */
export const signedTokensWorkOnce: Oracle = ({calls}) => {
  const single = calls.filter(
    ({shown}) =>
      shown.signed !== undefined && !shown.signed.isForeign && (shown.role === 'admin' || shown.role === 'mesh'),
  )
  return examine(
    groupBy(single, ({shown}) => shown.signed?.id),
    ([token, shown]) => {
      const taken = shown.flatMap(({id, copies}) =>
        copies.filter(({status}) => status !== undefined && status !== 401 && !isRefusal(status)).map(() => id),
      )
      return taken.length > 1
        ? {what: `The signed token ${token} was taken ${taken.length} times.`, calls: taken}
        : undefined
    },
  )
}

/** Nobody from another scope joins, is listed, or is let in. */
export const scopesAreApart: Oracle = (history) => {
  const {calls, rows, scope} = history
  const fromElsewhere = ({shown, operation, args}: Observed) =>
    (shown.signed?.isForeign === true && operation !== 'health') || isForeigner(args, scope)
  return together(
    examine(
      calls.filter((call) => call.status !== undefined && fromElsewhere(call)),
      ({id, operation, status = 0}) =>
        isRefusal(status) ? undefined : {what: `${operation} answered ${status} to another scope.`, calls: [id]},
    ),
    examine([...rows.nodes, ...rows.messages, ...rows.leases], (row) =>
      row.scope_id === scope ? undefined : {what: `The file has a row of the scope ${row.scope_id}.`, calls: []},
    ),
  )
}

const isForeigner = ({scope_id: given}: Observed['args'], scope: string) => given !== undefined && given !== scope
