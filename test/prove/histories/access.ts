import type {MeshOperation} from '../../../src/mesh/index.js'
import type {Observed} from '../../../src/prove/history/history.js'
import {type Case, call, claim, grant, lost, messageRow} from '../history.js'

const quarantine = (node: string, on: boolean, sent: number) =>
  call('admin_quarantine', {sent, status: 204, args: {node_id: node, quarantined: on}})
const maintenance = (node: string, sent: number, args: object) =>
  call('admin_maintenance', {sent, status: 204, args: {node_id: node, ...args}})
const join = (node: string, sent: number) => call('join', {sent, status: 200, args: {id: node}})

const as = (
  operation: MeshOperation,
  shown: Observed['shown'],
  status: number,
  sent: number,
  facts: Partial<Observed> = {},
) => call(operation, {sent, status, shown, ...facts})

const exchange = (generation: number, status: number, sent: number, code?: string) =>
  as('bootstrap_exchange', {role: 'bootstrap', generation}, status, sent, code === undefined ? {} : {code})
const guess = (sent: number) => as('bootstrap_exchange', {role: 'garbage', generation: 0}, 401, sent)

const rotated = {event: 'rotate_tokens', at: 1000, until: 1200, generation: 1, isTaken: true, bootstrap: 'fresh'}
const signed = (id: string, isForeign = false): Observed['shown'] => ({
  role: 'admin',
  generation: 0,
  signed: {id, isForeign},
})

/** Histories of access control. */
export const accessCases: Case[] = [
  {
    invariant: 'I-13',
    title: 'a node that gets nothing during quarantine, but again afterwards',
    parts: {
      calls: [
        quarantine('node-1', true, 0),
        claim('node-1', undefined, 20),
        quarantine('node-1', false, 40),
        grant('node-1', 'task:a', 1, 60),
      ],
    },
  },
  {
    invariant: 'I-13',
    title: 'a quarantine ended by a join',
    parts: {calls: [quarantine('node-1', true, 0), join('node-1', 20), grant('node-1', 'task:a', 1, 40)]},
    broken: /node-1 got a lease while in quarantine/,
  },
  {
    invariant: 'I-13',
    title: 'a lease granted while the end of the quarantine may have arrived',
    parts: {
      calls: [
        lost('admin_quarantine', {sent: 0, args: {node_id: 'node-1', quarantined: false}}, 300),
        quarantine('node-1', true, 20),
        grant('node-1', 'task:a', 1, 100),
      ],
    },
  },
  {
    invariant: 'I-13',
    title: 'a message claimed during maintenance',
    parts: {calls: [maintenance('node-1', 0, {maintenance: true}), claim('node-1', 5, 20)]},
    broken: /node-1 got a message while in quarantine or maintenance/,
  },
  {
    invariant: 'I-13',
    title: 'a claim after the maintenance deadline',
    parts: {
      calls: [
        maintenance('node-1', 0, {maintenance: true, maintenance_for_ms: 100}),
        claim('node-1', undefined, 50),
        claim('node-1', 5, 110),
      ],
    },
  },
  {
    invariant: 'I-13',
    title: 'a claim before the maintenance deadline',
    parts: {
      calls: [maintenance('node-1', 0, {maintenance: true, maintenance_for_ms: 100}), claim('node-1', 5, 50)],
    },
    broken: /node-1 got a message while in quarantine or maintenance/,
  },
  {
    invariant: 'I-14',
    title: 'roles that use their own routes with current tokens',
    parts: {
      calls: [
        as('list_nodes', {role: 'worker', generation: 0}, 200, 0),
        as('a2a_deliver', {role: 'worker', generation: 0}, 403, 20),
        as('list_nodes', {role: 'none', generation: 0}, 401, 40),
        as('bootstrap_exchange', {role: 'worker', generation: 0}, 404, 60, {code: 'bootstrap_disabled'}),
        as('list_nodes', {role: 'worker', generation: 0}, 401, 1100),
        as('list_nodes', {role: 'worker', generation: 0}, 401, 1300),
        as('list_nodes', {role: 'worker', generation: 1}, 200, 1400),
      ],
      events: [rotated],
    },
  },
  {
    invariant: 'I-14',
    title: 'a delivery with a worker token',
    parts: {calls: [as('a2a_deliver', {role: 'worker', generation: 0}, 200, 0)]},
    broken: /a2a_deliver returned 200 for a worker token/,
  },
  {
    invariant: 'I-14',
    title: 'a 404 for an invalid token',
    parts: {calls: [as('leave', {role: 'garbage', generation: 0}, 404, 0)]},
    broken: /leave returned 404 for a garbage token/,
  },
  {
    invariant: 'I-14',
    title: 'a token accepted after its rotation',
    parts: {calls: [as('list_nodes', {role: 'worker', generation: 0}, 200, 1300)], events: [rotated]},
    broken: /returned 200 for a retired worker token/,
  },
  {
    invariant: 'I-14',
    title: 'a refused valid token',
    parts: {calls: [as('list_nodes', {role: 'worker', generation: 0}, 401, 0)]},
    broken: /returned 401 for a valid worker token/,
  },
  {
    invariant: 'I-14',
    title: 'a server that does not accept the new tokens',
    parts: {events: [{...rotated, isTaken: false}]},
    broken: /did not accept token generation 1/,
  },
  {
    invariant: 'I-15',
    title: 'a bootstrap token that works once, after wrong guesses and lost responses',
    parts: {
      calls: [
        guess(0),
        exchange(0, 200, 20),
        exchange(0, 410, 40, 'bootstrap_consumed'),
        lost('bootstrap_exchange', {sent: 60, shown: {role: 'bootstrap', generation: 1}}, 70),
        exchange(1, 410, 80, 'bootstrap_consumed'),
      ],
    },
  },
  {
    invariant: 'I-15',
    title: 'a bootstrap token that works twice',
    parts: {calls: [exchange(0, 200, 0), exchange(0, 200, 20)]},
    broken: /Bootstrap token 0 was accepted 2 times/,
  },
  {
    invariant: 'I-15',
    title: 'a bootstrap token consumed by a wrong guess',
    parts: {calls: [guess(0), exchange(0, 410, 20, 'bootstrap_consumed')]},
    broken: /consumed without having been accepted/,
  },
  {
    invariant: 'I-15',
    title: 'an expired bootstrap token that works',
    parts: {calls: [exchange(1, 200, 1300)], events: [{...rotated, bootstrap: 'expired'}]},
    broken: /was accepted 1 times/,
  },
  {
    invariant: 'I-16',
    title: 'a signed token accepted once and refused when repeated',
    parts: {
      calls: [
        as('admin_quarantine', signed('t'), 204, 0),
        as('admin_quarantine', signed('t'), 401, 20),
        call('admin_quarantine', {
          sent: 40,
          status: 204,
          shown: signed('u'),
          copies: [
            {forwarded: 41, settled: 50, status: 204},
            {forwarded: 42, settled: 51, status: 401},
          ],
        }),
      ],
    },
  },
  {
    invariant: 'I-16',
    title: 'a signed token accepted on two connections',
    parts: {
      calls: [
        call('admin_quarantine', {
          sent: 40,
          status: 204,
          shown: signed('u'),
          copies: [
            {forwarded: 41, settled: 50, status: 204},
            {forwarded: 42, settled: 51, status: 204},
          ],
        }),
      ],
    },
    broken: /Signed token u was accepted 2 times/,
  },
  {
    invariant: 'I-18',
    title: 'refused requests of another scope',
    parts: {
      calls: [
        call('join', {sent: 0, status: 403, args: {id: 'foreigner', scope_id: 'other'}}),
        as('list_nodes', signed('t', true), 403, 20),
      ],
    },
  },
  {
    invariant: 'I-18',
    title: 'a join of another scope',
    parts: {calls: [call('join', {sent: 0, status: 200, args: {id: 'foreigner', scope_id: 'other'}})]},
    broken: /join returned 200 to a client of another scope/,
  },
  {
    invariant: 'I-18',
    title: 'database rows of another scope',
    parts: {messages: [messageRow(1, {scope_id: 'other'})]},
    broken: /row of scope other/,
  },
  {
    invariant: 'I-19',
    title: 'responses without secrets',
    parts: {calls: [join('node-1', 0)]},
  },
  {
    invariant: 'I-19',
    title: 'a response with a secret',
    parts: {calls: [{...join('node-1', 0), leaked: true}]},
    broken: /response to join contained a secret/,
  },
  {
    invariant: 'I-19',
    title: 'a file with a secret',
    parts: {leaks: [{file: 'home/server.log', secret: 'worker-0'}]},
    broken: /home\/server.log contains worker-0/,
  },
]
