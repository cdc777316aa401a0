import {type Case, call, lost} from '../history.js'

/** A response with a node: its last-seen time, the server time and its heartbeat number. */
const sight = (operation: 'heartbeat' | 'join', lastSeen: number, beat: number, sent: number) =>
  call(operation, {
    sent,
    status: 200,
    args: {id: 'node-1', memory_free_bytes: beat},
    body: {id: 'node-1', last_seen_unix_ms: lastSeen, memory_free_bytes: beat, server_time_unix_ms: lastSeen},
  })
const listed = (lastSeen: number, sent: number) =>
  call('list_nodes', {
    sent,
    status: 200,
    args: {limit: 10},
    body: {count: 1, server_time_unix_ms: lastSeen + 5, nodes: [{id: 'node-1', last_seen_unix_ms: lastSeen}]},
  })
const restarted = {event: 'kill', at: 15, until: 18}

/** Histories of nodes. Heartbeats of incarnation 3 are numbered from 3,000,000. */
export const nodeCases: Case[] = [
  {
    invariant: 'I-17',
    title: 'increasing last-seen times, and a late heartbeat answered with the newer state',
    parts: {
      calls: [sight('join', 5000, 3_000_000, 0), sight('heartbeat', 5010, 3_000_002, 20), listed(5010, 40)],
    },
  },
  {
    invariant: 'I-17',
    title: 'a last-seen time that decreases',
    parts: {calls: [sight('heartbeat', 5010, 3_000_002, 0), listed(5009, 20)]},
    broken: /last-seen time of node-1 decreased by 1 ms/,
  },
  {
    invariant: 'I-17',
    title: 'heartbeats of the last moments lost in a crash',
    parts: {calls: [sight('heartbeat', 5010, 3_000_002, 0), listed(4000, 20)], events: [restarted]},
  },
  {
    invariant: 'I-17',
    title: 'too many heartbeats lost in a crash',
    parts: {calls: [sight('heartbeat', 5010, 3_000_002, 0), listed(2000, 20)], events: [restarted]},
    broken: /decreased by 3010 ms/,
  },
  {
    invariant: 'I-17',
    title: 'a last-seen time from the clock of the node',
    parts: {
      calls: [
        call('heartbeat', {
          sent: 0,
          status: 200,
          body: {id: 'node-1', last_seen_unix_ms: 9000, server_time_unix_ms: 5000},
        }),
      ],
    },
    broken: /last seen at 9000, after the server time 5000/,
  },
  {
    invariant: 'I-17',
    title: 'a record overwritten by a late heartbeat',
    parts: {calls: [sight('heartbeat', 5000, 3_000_005, 0), sight('heartbeat', 5010, 3_000_004, 20)]},
    broken: /back from heartbeat 3000005 to 3000004/,
  },
  {
    invariant: 'I-17',
    title: 'a record reset by the second copy of a join',
    parts: {
      calls: [
        lost('join', {sent: 0, args: {id: 'node-1', memory_free_bytes: 3_000_000}}, 300),
        sight('heartbeat', 5000, 3_000_005, 20),
        sight('heartbeat', 5010, 3_000_004, 320),
      ],
    },
  },
  {
    invariant: 'I-25',
    title: 'a list longer than the limit',
    parts: {calls: [call('list_nodes', {sent: 0, status: 200, args: {limit: 10}, body: {count: 11, nodes: []}})]},
    broken: /A list with a limit of 10 had 11 nodes/,
  },
  {
    invariant: 'I-25',
    title: 'a slow list without a fault',
    parts: {calls: [call('list_nodes', {sent: 0, answered: 9000, status: 200, args: {limit: 10}, body: {count: 1}})]},
    broken: /list_nodes took 9000 ms/,
  },
]
