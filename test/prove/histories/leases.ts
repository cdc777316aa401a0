import {type Case, call, grant, leaseRow, lost, own} from '../history.js'

const revoke = (lease: number, sent: number) =>
  call('admin_exec_lease_revoke', {
    sent,
    status: 204,
    args: {lease_id: String(lease)},
    shown: {role: 'admin', generation: 0},
  })
const leave = (node: string, sent: number) => call('leave', {sent, status: 204, args: {id: node}})

/** Histories of leases. Times are ms; a lease lasts 1000 ms. */
export const leaseCases: Case[] = [
  {
    invariant: 'I-1',
    title: 'a grant after the previous lease has expired',
    parts: {calls: [grant('node-1', 'task:a', 1, 0), grant('node-2', 'task:a', 2, 1000)]},
  },
  {
    invariant: 'I-1',
    title: 'a grant while the previous lease is active',
    parts: {calls: [grant('node-1', 'task:a', 1, 0), grant('node-2', 'task:a', 2, 500)]},
    broken: /task:a was held by node-1 \(1\) and node-2 \(2\)/,
  },
  {
    invariant: 'I-1',
    title: 'a grant during a lease renewed in time',
    parts: {
      calls: [
        grant('node-1', 'task:a', 1, 0),
        own('exec_lease_renew', 'node-1', 1, 900),
        grant('node-2', 'task:a', 2, 1500),
      ],
    },
    broken: /task:a/,
  },
  {
    invariant: 'I-1',
    title: 'a grant after a renewal without a response',
    parts: {
      calls: [
        grant('node-1', 'task:a', 1, 0),
        lost('exec_lease_renew', {sent: 900, args: {lease_id: '1', claimer_node_id: 'node-1'}}, 910),
        grant('node-2', 'task:a', 2, 1000),
      ],
    },
  },
  {
    invariant: 'I-1',
    title: 'a grant after a release, even without a response',
    parts: {
      calls: [
        grant('node-1', 'task:a', 1, 0),
        lost('exec_lease_release', {sent: 100, args: {lease_id: '1', claimer_node_id: 'node-1'}}, 2000),
        grant('node-2', 'task:a', 2, 150),
      ],
    },
  },
  {
    invariant: 'I-1',
    title: 'a grant after a revocation or after the holder left',
    parts: {
      calls: [
        grant('node-1', 'task:a', 1, 0),
        revoke(1, 100),
        grant('node-2', 'task:a', 2, 150),
        leave('node-2', 200),
        grant('node-3', 'task:a', 3, 250),
      ],
    },
  },
  {
    invariant: 'I-1',
    title: 'a grant after a release that never arrived',
    parts: {
      calls: [
        grant('node-1', 'task:a', 1, 0),
        call('exec_lease_release', {sent: 100, args: {lease_id: '1', claimer_node_id: 'node-1'}, copies: []}),
        grant('node-2', 'task:a', 2, 150),
      ],
    },
    broken: /task:a/,
  },
  {
    invariant: 'I-5',
    title: 'tokens that increase per holder and are kept by repeated grants',
    parts: {
      calls: [
        grant('node-1', 'task:a', 1, 0),
        grant('node-1', 'task:a', 1, 100),
        own('exec_lease_release', 'node-1', 1, 200),
        grant('node-2', 'task:a', 2, 300),
      ],
    },
  },
  {
    invariant: 'I-5',
    title: 'a token that decreases',
    parts: {calls: [grant('node-1', 'task:a', 2, 0), grant('node-2', 'task:a', 1, 2000)]},
    broken: /decreased from 2 to 1/,
  },
  {
    invariant: 'I-5',
    title: 'a lower token held after a higher one',
    parts: {
      calls: [
        {...grant('node-1', 'task:a', 1, 0), answered: 300},
        grant('node-2', 'task:a', 2, 20),
        own('exec_lease_release', 'node-2', 2, 200),
      ],
    },
    broken: /task:a was held with token 2 and later with 1/,
  },
  {
    invariant: 'I-5',
    title: 'a token of two holders',
    parts: {calls: [grant('node-1', 'task:a', 4, 0), grant('node-2', 'task:a', 4, 2000)]},
    broken: /Lease 4 was granted for task:a of node-1 and task:a of node-2/,
  },
  {
    invariant: 'I-5',
    title: 'a token reused after its lease was released',
    parts: {
      calls: [
        grant('node-1', 'task:a', 1, 0),
        own('exec_lease_release', 'node-1', 1, 100),
        grant('node-1', 'task:a', 1, 200),
      ],
    },
    broken: /Lease 1 had ended/,
  },
  {
    invariant: 'I-5',
    title: 'a database without the latest token',
    parts: {calls: [grant('node-1', 'task:a', 7, 0)], leases: [leaseRow(3)]},
    broken: /token 3 for task:a, but 7/,
  },
  {
    invariant: 'I-12',
    title: 'refused renewals and releases by other nodes',
    parts: {
      calls: [
        grant('node-1', 'task:a', 1, 0),
        own('exec_lease_renew', 'node-2', 1, 100, 409),
        own('exec_lease_release', 'node-1', 1, 200),
        own('exec_lease_renew', 'node-1', 1, 300, 404),
      ],
    },
  },
  {
    invariant: 'I-12',
    title: 'a renewal by another node',
    parts: {calls: [grant('node-1', 'task:a', 1, 0), own('exec_lease_renew', 'node-2', 1, 100)]},
    broken: /exec_lease_renew by node-2 succeeded for lease 1 of node-1/,
  },
  {
    invariant: 'I-12',
    title: 'a renewal of a lease that never existed',
    parts: {calls: [grant('node-1', 'task:a', 1, 0), own('exec_lease_renew', 'node-1', 999, 100)]},
    broken: /lease 999/,
  },
  {
    invariant: 'I-12',
    title: 'a renewal after a release',
    parts: {
      calls: [
        grant('node-1', 'task:a', 1, 0),
        own('exec_lease_release', 'node-1', 1, 100),
        own('exec_lease_renew', 'node-1', 1, 200),
      ],
    },
    broken: /lease 1 after it had ended/,
  },
  {
    invariant: 'I-12',
    title: 'a renewal after expiry',
    parts: {calls: [grant('node-1', 'task:a', 1, 0), own('exec_lease_renew', 'node-1', 1, 1800)]},
    broken: /ms after it had expired/,
  },
  {
    invariant: 'I-12',
    title: 'a late renewal if a lost renewal or a restart may have extended the lease',
    parts: {
      calls: [
        grant('node-1', 'task:a', 1, 0),
        lost('exec_lease_renew', {sent: 500, args: {lease_id: '1', claimer_node_id: 'node-1'}}, 900),
        own('exec_lease_renew', 'node-1', 1, 1800),
        grant('node-2', 'task:b', 2, 5000),
        own('exec_lease_renew', 'node-2', 2, 6800),
      ],
      events: [{event: 'kill', at: 5500, until: 6500}],
    },
  },
  {
    invariant: 'I-22',
    title: 'renewals in time that succeed while the clock jumps',
    parts: {
      calls: [
        grant('node-1', 'task:a', 1, 0),
        own('exec_lease_renew', 'node-1', 1, 700),
        call('heartbeat', {sent: 800, status: 200, body: {server_time_unix_ms: 5000}}),
        call('heartbeat', {sent: 900, status: 200, body: {server_time_unix_ms: 5100}}),
      ],
      events: [{event: 'clock_forward', at: 600, shift: 3_600_000}],
    },
  },
  {
    invariant: 'I-22',
    title: 'a lease ended early by a clock jump',
    parts: {
      calls: [grant('node-1', 'task:a', 1, 0), own('exec_lease_renew', 'node-1', 1, 700, 404)],
      events: [{event: 'clock_forward', at: 600, shift: 3_600_000}],
    },
    broken: /node-1 got 404 for task:a \d+ ms before expiry/,
  },
  {
    invariant: 'I-22',
    title: 'the refusal of a late renewal',
    parts: {calls: [grant('node-1', 'task:a', 1, 0), own('exec_lease_renew', 'node-1', 1, 990, 404)]},
  },
  {
    invariant: 'I-22',
    title: 'server time that goes back',
    parts: {
      calls: [
        call('heartbeat', {sent: 0, status: 200, body: {server_time_unix_ms: 5000}}),
        call('heartbeat', {sent: 20, status: 200, body: {server_time_unix_ms: 4999}}),
      ],
    },
    broken: /went back by 1 ms/,
  },
  {
    invariant: 'I-22',
    title: 'server time that goes back after the clock of the database has stepped',
    parts: {
      calls: [
        call('heartbeat', {sent: 100, status: 200, body: {server_time_unix_ms: 5000}}),
        call('heartbeat', {sent: 120, status: 200, body: {server_time_unix_ms: 4500}}),
      ],
      events: [{event: 'database_clock', at: 50, until: 60}],
    },
  },
  {
    invariant: 'I-22',
    title: 'times of two servers that differ a little',
    parts: {
      calls: [
        call('heartbeat', {sent: 0, status: 200, body: {server_time_unix_ms: 5000}}),
        call('heartbeat', {sent: 20, status: 200, body: {server_time_unix_ms: 4999}}),
      ],
      clockToleranceMs: 10,
    },
  },
]
