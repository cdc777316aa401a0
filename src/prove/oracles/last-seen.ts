import {heartbeatsPerIncarnation} from '../clients/member.js'
import type {History, Observed} from '../history/history.js'
import {callsOf, effectOf, mayLoseTime, numberOf, textOf, wasRestarted} from './effect.js'
import {checkEach, combine, groupBy, neverFalls, type Oracle, type OracleResult, violation} from './oracle.js'

/** Heartbeats that a killed server may lose, ms: it saves them periodically. */
const maxLossMs = 2000

/** State of a node in a response. */
interface Sighting {
  call: Observed
  node: string
  lastSeen: number
  /** Reported free memory, which encodes the heartbeat number. */
  heartbeat: number
}

/** The last-seen time comes from the server's clock and never decreases, and late heartbeats change nothing. */
export const lastSeenGrows: Oracle = (history) => {
  const sightings = sightingsOf(history)
  const byNode = groupBy(sightings, ({node}) => node)
  // The reports of real programs do not encode a heartbeat number.
  const programs = new Set(callsOf(history, 'join').flatMap(({isObserved, args}) => (isObserved ? [args.id] : [])))
  return combine(
    ...[...byNode].map(([node, own]) => seenGrows(history, node, own)),
    ...[...byNode].filter(([node]) => !programs.has(node)).map(([node, own]) => heartbeatsGrow(history, node, own)),
    checkEach(sightings, ({call, node, lastSeen}) => {
      const time = numberOf(call.body?.server_time_unix_ms)
      return (
        lastSeen > time + history.clockToleranceMs &&
        violation(`${node} was last seen at ${lastSeen}, after the server time ${time}.`, call.id)
      )
    }),
  )
}

function sightingsOf(history: History): Sighting[] {
  const sight = (call: Observed, node: Readonly<Record<string, unknown>>): Sighting => ({
    call,
    node: textOf(node.id),
    lastSeen: numberOf(node.last_seen_unix_ms),
    heartbeat: numberOf(node.memory_free_bytes),
  })
  return callsOf(history, 'join', 'heartbeat', 'list_nodes')
    .filter(({status}) => status === 200)
    .flatMap((call) =>
      call.operation === 'list_nodes'
        ? ((call.body?.nodes ?? []) as Record<string, unknown>[]).map((node) => sight(call, node))
        : [sight(call, call.body ?? {})],
    )
}

const seenGrows = (history: History, node: string, sightings: readonly Sighting[]): OracleResult =>
  neverFalls(
    sightings,
    ({lastSeen}) => lastSeen,
    (before, now) => {
      const backMs = before.lastSeen - now.lastSeen
      const isLost = backMs <= maxLossMs && mayLoseTime(history, before.call, now.call)
      const what = `The last-seen time of ${node} decreased by ${backMs} ms.`
      return !isLost && violation(what, before.call.id, now.call.id)
    },
  )

/** Heartbeats increase within an incarnation, unless a late copy of a join restores its values. */
function heartbeatsGrow(history: History, node: string, sightings: readonly Sighting[]): OracleResult {
  const joins = callsOf(history, 'join').filter(({args}) => args.id === node)
  const incarnationOf = (heartbeat: number) => Math.floor(heartbeat / heartbeatsPerIncarnation)
  const numbered = sightings.filter(({heartbeat}) => Number.isFinite(heartbeat))
  return combine(
    ...[...groupBy(numbered, ({heartbeat}) => incarnationOf(heartbeat))].map(([incarnation, own]) =>
      neverFalls(
        own,
        ({heartbeat}) => heartbeat,
        (before, now) => {
          const isJoinedAgain = joins.some((join) => {
            const isSame = incarnationOf(numberOf(join.args.memory_free_bytes)) === incarnation
            return isSame && (effectOf(join)?.until ?? -Infinity) > before.call.sent
          })
          const what = `${node} went back from heartbeat ${before.heartbeat} to ${now.heartbeat}.`
          return (
            !isJoinedAgain &&
            !wasRestarted(history, before.call, now.call) &&
            violation(what, before.call.id, now.call.id)
          )
        },
      ),
    ),
  )
}
