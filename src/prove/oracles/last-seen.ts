import {beatsOfIncarnation} from '../clients/member.js'
import type {History, Observed} from '../history/history.js'
import {callsOf, effectOf, eventsBetween, isRestart, numberOf, textOf} from './effect.js'
import {examine, type Finding, groupBy, type Oracle, together, type Violation} from './oracle.js'

/** What a server that was killed may have to hear again: heartbeats reach the file once in a while, ms. */
const lostAtMostMs = 2000

/** A node as an answer showed it. */
interface Sight {
  call: Observed
  node: string
  lastSeen: number
  /** What it said of its memory, which names the heartbeat. */
  beat: number
}

/** When a node was last seen is for the clock of the server to say, never goes back, and late heartbeats change nothing. */
export const lastSeenGrows: Oracle = (history) => {
  const sights = sightsOf(history)
  const byNode = groupBy(sights, ({node}) => node)
  return together(
    ...[...byNode].map(([node, own]) => seenGrows(history, node, own)),
    ...[...byNode].map(([node, own]) => beatsGrow(history, node, own)),
    examine(sights, ({call, node, lastSeen}) => {
      const time = numberOf(call.body?.server_time_unix_ms)
      return lastSeen > time
        ? {what: `${node} was seen at ${lastSeen}, when it was ${time}.`, calls: [call.id]}
        : undefined
    }),
  )
}

function sightsOf(history: History): Sight[] {
  const sight = (call: Observed, node: Readonly<Record<string, unknown>>): Sight => ({
    call,
    node: textOf(node.id),
    lastSeen: numberOf(node.last_seen_unix_ms),
    beat: numberOf(node.memory_free_bytes),
  })
  return callsOf(history, 'join', 'heartbeat', 'list_nodes')
    .filter(({status}) => status === 200)
    .flatMap((call) =>
      call.operation === 'list_nodes'
        ? ((call.body?.nodes ?? []) as Record<string, unknown>[]).map((node) => sight(call, node))
        : [sight(call, call.body ?? {})],
    )
}

/**
 * Looks at each sight beside the highest of those that were over when it was asked for.
 * @param isAllowed whether it may have fallen from one to the other
 */
export function neverFalls<T extends {call: Observed}>(
  facts: readonly T[],
  heightOf: (fact: T) => number,
  look: (before: T, now: T) => Violation | undefined,
): Finding {
  const bySent = facts.toSorted((a, b) => a.call.sent - b.call.sent)
  const byAnswer = facts.toSorted((a, b) => a.call.answered - b.call.answered)
  let next = 0
  let highest: T | undefined
  return examine(bySent, (fact) => {
    for (; next < byAnswer.length; next++) {
      const passed = byAnswer[next]
      if (passed === undefined || passed.call.answered > fact.call.sent) break
      if (highest === undefined || heightOf(passed) > heightOf(highest)) highest = passed
    }
    return highest !== undefined && heightOf(fact) < heightOf(highest) ? look(highest, fact) : undefined
  })
}

const seenGrows = (history: History, node: string, sights: readonly Sight[]): Finding =>
  neverFalls(
    sights,
    ({lastSeen}) => lastSeen,
    (before, now) => {
      const backMs = before.lastSeen - now.lastSeen
      const isLost = backMs <= lostAtMostMs && wasRestarted(history, before.call, now.call)
      const what = `${node} was last seen ${backMs} ms earlier than before.`
      return isLost ? undefined : {what, calls: [before.call.id, now.call.id]}
    },
  )

export const wasRestarted = (history: History, before: Observed, now: Observed): boolean =>
  eventsBetween(history, before.sent, now.answered, isRestart).length > 0

/** Within an incarnation; a join that is repeated late says what it said at first. */
function beatsGrow(history: History, node: string, sights: readonly Sight[]): Finding {
  const joins = callsOf(history, 'join').filter(({args}) => args.id === node)
  const incarnationOf = (beat: number) => Math.floor(beat / beatsOfIncarnation)
  const told = sights.filter(({beat}) => Number.isFinite(beat))
  return together(
    ...[...groupBy(told, ({beat}) => incarnationOf(beat))].map(([incarnation, own]) =>
      neverFalls(
        own,
        ({beat}) => beat,
        (before, now) => {
          const isJoinedAgain = joins.some((join) => {
            const isSame = incarnationOf(numberOf(join.args.memory_free_bytes)) === incarnation
            return isSame && (effectOf(join)?.until ?? -Infinity) > before.call.sent
          })
          const what = `${node} went from heartbeat ${before.beat} back to ${now.beat}.`
          return isJoinedAgain || wasRestarted(history, before.call, now.call)
            ? undefined
            : {what, calls: [before.call.id, now.call.id]}
        },
      ),
    ),
  )
}
