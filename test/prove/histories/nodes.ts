import {type Case, call, lost} from '../history.js'

/** An answer that shows a node: when it was last seen, by the clock of the server, and what it last said. */
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

/** What answers showed of nodes. The beats of incarnation 3 are 3,000,000 and up. */
export const nodeCases: Case[] = [
  {
    invariant: 'I-17',
    title: 'a node is seen later and later, and a late heartbeat shows what came before it',
    parts: {
      calls: [sight('join', 5000, 3_000_000, 0), sight('heartbeat', 5010, 3_000_002, 20), listed(5010, 40)],
    },
  },
  {
    invariant: 'I-17',
    title: 'a node was last seen earlier than before',
    parts: {calls: [sight('heartbeat', 5010, 3_000_002, 0), listed(5009, 20)]},
    broken: /node-1 was last seen 1 ms earlier/,
  },
  {
    invariant: 'I-17',
    title: 'a crash may cost the last heartbeats, and no more',
    parts: {calls: [sight('heartbeat', 5010, 3_000_002, 0), listed(4000, 20)], events: [restarted]},
  },
  {
    invariant: 'I-17',
    title: 'a crash costs more than the last heartbeats',
    parts: {calls: [sight('heartbeat', 5010, 3_000_002, 0), listed(2000, 20)], events: [restarted]},
    broken: /3010 ms earlier/,
  },
  {
    invariant: 'I-17',
    title: 'a node is seen in the future, as its own clock has it',
    parts: {
      calls: [
        call('heartbeat', {
          sent: 0,
          status: 200,
          body: {id: 'node-1', last_seen_unix_ms: 9000, server_time_unix_ms: 5000},
        }),
      ],
    },
    broken: /seen at 9000, when it was 5000/,
  },
  {
    invariant: 'I-17',
    title: 'a late heartbeat turns the record back',
    parts: {calls: [sight('heartbeat', 5000, 3_000_005, 0), sight('heartbeat', 5010, 3_000_004, 20)]},
    broken: /from heartbeat 3000005 back to 3000004/,
  },
  {
    invariant: 'I-17',
    title: 'a join that was sent twice may say again what it said',
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
    title: 'a list is longer than was asked for',
    parts: {calls: [call('list_nodes', {sent: 0, status: 200, args: {limit: 10}, body: {count: 11, nodes: []}})]},
    broken: /A list of 10 had 11 nodes/,
  },
  {
    invariant: 'I-25',
    title: 'a list takes its time although nothing is wrong',
    parts: {calls: [call('list_nodes', {sent: 0, answered: 9000, status: 200, args: {limit: 10}, body: {count: 1}})]},
    broken: /list_nodes took 9000 ms/,
  },
]
