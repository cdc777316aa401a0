import {heartbeatsPerIncarnation} from '../clients/member.js'
import type {History, Observed} from '../history/history.js'
import {callsOf, effectOf, numberOf, textOf, wasRestarted} from './effect.js'
import {checkEach, combine, type Finding, groupBy, neverFalls, type Oracle, violation} from './oracle.js'

/** What a server that was killed may have to hear again: heartbeats reach the file once in a while, ms. */
const lostAtMostMs = 2000

/** A node as an answer showed it. */
interface Sighting {
  call: Observed
  node: string
  lastSeen: number
  /** What it reported of its memory, which numbers the heartbeat. */
  heartbeat: number
}

/** When a node was last seen is for the clock of the server to say, never goes back, and late heartbeats change nothing. */
export const lastSeenGrows: Oracle = (history) => {
  const sightings = sightingsOf(history)
  const byNode = groupBy(sightings, ({node}) => node)
  return combine(
    ...[...byNode].map(([node, own]) => seenGrows(history, node, own)),
    ...[...byNode].map(([node, own]) => heartbeatsGrow(history, node, own)),
    checkEach(sightings, ({call, node, lastSeen}) => {
      const time = numberOf(call.body?.server_time_unix_ms)
      return lastSeen > time && violation(`${node} was seen at ${lastSeen}, when it was ${time}.`, call.id)
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

const seenGrows = (history: History, node: string, sightings: readonly Sighting[]): Finding =>
  neverFalls(
    sightings,
    ({lastSeen}) => lastSeen,
    (before, now) => {
      const backMs = before.lastSeen - now.lastSeen
      const isLost = backMs <= lostAtMostMs && wasRestarted(history, before.call, now.call)
      const what = `${node} was last seen ${backMs} ms earlier than before.`
      return !isLost && violation(what, before.call.id, now.call.id)
    },
  )

/** Within an incarnation; a join that is repeated late says what it said at first. */
function heartbeatsGrow(history: History, node: string, sightings: readonly Sighting[]): Finding {
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
          const what = `${node} went from heartbeat ${before.heartbeat} back to ${now.heartbeat}.`
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
