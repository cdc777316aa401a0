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

/** Who was let in, and who was given something. */
export const accessCases: Case[] = [
  {
    invariant: 'I-13',
    title: 'a node in quarantine gets nothing, and everything again when it is out',
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
    title: 'quarantine is washed off by a join',
    parts: {calls: [quarantine('node-1', true, 0), join('node-1', 20), grant('node-1', 'task:a', 1, 40)]},
    broken: /node-1 got a lease although/,
  },
  {
    invariant: 'I-13',
    title: 'an order to let it out that was late may have come later',
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
    title: 'a node in maintenance gets a message',
    parts: {calls: [maintenance('node-1', 0, {maintenance: true}), claim('node-1', 5, 20)]},
    broken: /node-1 got a message although/,
  },
  {
    invariant: 'I-13',
    title: 'maintenance ends with its time',
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
    title: 'maintenance ends before its time',
    parts: {
      calls: [maintenance('node-1', 0, {maintenance: true, maintenance_for_ms: 100}), claim('node-1', 5, 50)],
    },
    broken: /node-1 got a message although/,
  },
  {
    invariant: 'I-14',
    title: 'each role is let in where it may, with the tokens of its time',
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
    title: 'a worker delivers',
    parts: {calls: [as('a2a_deliver', {role: 'worker', generation: 0}, 200, 0)]},
    broken: /a2a_deliver answered 200 to worker/,
  },
  {
    invariant: 'I-14',
    title: 'a stranger is told what there is not',
    parts: {calls: [as('leave', {role: 'garbage', generation: 0}, 404, 0)]},
    broken: /leave answered 404 to garbage/,
  },
  {
    invariant: 'I-14',
    title: 'a token of before the rotation still works',
    parts: {calls: [as('list_nodes', {role: 'worker', generation: 0}, 200, 1300)], events: [rotated]},
    broken: /answered 200 to a retired worker/,
  },
  {
    invariant: 'I-14',
    title: 'a role is shut out from what it may',
    parts: {calls: [as('list_nodes', {role: 'worker', generation: 0}, 401, 0)]},
    broken: /answered 401 to worker, which may use it/,
  },
  {
    invariant: 'I-14',
    title: 'a server goes on with the old tokens',
    parts: {events: [{...rotated, isTaken: false}]},
    broken: /did not take the tokens 1/,
  },
  {
    invariant: 'I-15',
    title: 'the token for new nodes works once, also after wrong guesses and lost answers',
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
    title: 'the token for new nodes works twice',
    parts: {calls: [exchange(0, 200, 0), exchange(0, 200, 20)]},
    broken: /worked 2 times/,
  },
  {
    invariant: 'I-15',
    title: 'a wrong guess uses it up',
    parts: {calls: [guess(0), exchange(0, 410, 20, 'bootstrap_consumed')]},
    broken: /used up without having worked/,
  },
  {
    invariant: 'I-15',
    title: 'one that has expired works',
    parts: {calls: [exchange(1, 200, 1300)], events: [{...rotated, bootstrap: 'expired'}]},
    broken: /worked 1 times/,
  },
  {
    invariant: 'I-16',
    title: 'a signed token is taken once, and refused when it comes again',
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
    title: 'a signed token is taken from each of two connections',
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
    broken: /signed token u was taken 2 times/,
  },
  {
    invariant: 'I-18',
    title: 'another scope is refused',
    parts: {
      calls: [
        call('join', {sent: 0, status: 403, args: {id: 'foreigner', scope_id: 'other'}}),
        as('list_nodes', signed('t', true), 403, 20),
      ],
    },
  },
  {
    invariant: 'I-18',
    title: 'a node of another scope joins',
    parts: {calls: [call('join', {sent: 0, status: 200, args: {id: 'foreigner', scope_id: 'other'}})]},
    broken: /join answered 200 to another scope/,
  },
  {
    invariant: 'I-18',
    title: 'the file has rows of another scope',
    parts: {messages: [messageRow(1, {scope_id: 'other'})]},
    broken: /row of the scope other/,
  },
  {
    invariant: 'I-19',
    title: 'answers hold no secret',
    parts: {calls: [join('node-1', 0)]},
  },
  {
    invariant: 'I-19',
    title: 'an answer holds a secret',
    parts: {calls: [{...join('node-1', 0), leaked: true}]},
    broken: /answer to join held a secret/,
  },
  {
    invariant: 'I-19',
    title: 'a file holds a secret',
    parts: {leaks: [{file: 'home/server.log', secret: 'worker-0'}]},
    broken: /home\/server.log holds worker-0/,
  },
]
