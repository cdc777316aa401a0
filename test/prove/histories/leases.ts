import {type Case, call, grant, leaseRow, lost, own} from '../history.js'

const revoke = (lease: number, sent: number) =>
  call('admin_exec_lease_revoke', {
    sent,
    status: 204,
    args: {lease_id: String(lease)},
    shown: {role: 'admin', generation: 0},
  })
const leave = (node: string, sent: number) => call('leave', {sent, status: 204, args: {id: node}})

/** What became of leases. Times are ms; a lease holds for 1000. */
export const leaseCases: Case[] = [
  {
    invariant: 'I-1',
    title: 'the next holder comes when the time of the one before is over',
    parts: {calls: [grant('node-1', 'task:a', 1, 0), grant('node-2', 'task:a', 2, 1000)]},
  },
  {
    invariant: 'I-1',
    title: 'the next holder comes while the one before still has it',
    parts: {calls: [grant('node-1', 'task:a', 1, 0), grant('node-2', 'task:a', 2, 500)]},
    broken: /task:a was held by node-1 \(1\) and node-2 \(2\)/,
  },
  {
    invariant: 'I-1',
    title: 'a renewal counts from when it was sent',
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
    title: 'a renewal that was not answered counts for nothing',
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
    title: 'a lease that is released, also without an answer, is free',
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
    title: 'a lease that is revoked, or whose holder leaves, is free',
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
    title: 'a release that never arrived frees nothing',
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
    title: 'tokens grow from holder to holder, and stay with one who comes back in time',
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
    title: 'a token goes back',
    parts: {calls: [grant('node-1', 'task:a', 2, 0), grant('node-2', 'task:a', 1, 2000)]},
    broken: /went from 2 back to 1/,
  },
  {
    invariant: 'I-5',
    title: 'a token that was drawn before comes after one that was drawn later',
    parts: {
      calls: [
        {...grant('node-1', 'task:a', 1, 0), answered: 300},
        grant('node-2', 'task:a', 2, 20),
        own('exec_lease_release', 'node-2', 2, 200),
      ],
    },
    broken: /task:a was held with token 2, and then with 1/,
  },
  {
    invariant: 'I-5',
    title: 'a token belongs to two holders',
    parts: {calls: [grant('node-1', 'task:a', 4, 0), grant('node-2', 'task:a', 4, 2000)]},
    broken: /Lease 4 was given out as task:a of node-1 and task:a of node-2/,
  },
  {
    invariant: 'I-5',
    title: 'a token comes again after its lease was released',
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
    title: 'the file has forgotten the last token',
    parts: {calls: [grant('node-1', 'task:a', 7, 0)], leases: [leaseRow(3)]},
    broken: /token 3 for task:a, and 7/,
  },
  {
    invariant: 'I-12',
    title: 'others are refused what is not theirs',
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
    title: 'somebody else renews',
    parts: {calls: [grant('node-1', 'task:a', 1, 0), own('exec_lease_renew', 'node-2', 1, 100)]},
    broken: /node-2 did exec_lease_renew of lease 1 of node-1/,
  },
  {
    invariant: 'I-12',
    title: 'a lease is renewed that there never was',
    parts: {calls: [grant('node-1', 'task:a', 1, 0), own('exec_lease_renew', 'node-1', 999, 100)]},
    broken: /lease 999/,
  },
  {
    invariant: 'I-12',
    title: 'a lease is renewed after its release',
    parts: {
      calls: [
        grant('node-1', 'task:a', 1, 0),
        own('exec_lease_release', 'node-1', 1, 100),
        own('exec_lease_renew', 'node-1', 1, 200),
      ],
    },
    broken: /done after its end/,
  },
  {
    invariant: 'I-12',
    title: 'a lease is renewed that had expired',
    parts: {calls: [grant('node-1', 'task:a', 1, 0), own('exec_lease_renew', 'node-1', 1, 1800)]},
    broken: /ms after it had expired/,
  },
  {
    invariant: 'I-12',
    title: 'a renewal without an answer, or a restart, may have made it last',
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
    title: 'whoever renews in time is not refused, whatever the clock does',
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
    title: 'a clock that jumps ends a lease',
    parts: {
      calls: [grant('node-1', 'task:a', 1, 0), own('exec_lease_renew', 'node-1', 1, 700, 404)],
      events: [{event: 'clock_forward', at: 600, shift: 3_600_000}],
    },
    broken: /node-1 was told 404 of task:a \d+ ms before its time/,
  },
  {
    invariant: 'I-22',
    title: 'a holder that comes too late is refused by right',
    parts: {calls: [grant('node-1', 'task:a', 1, 0), own('exec_lease_renew', 'node-1', 1, 990, 404)]},
  },
  {
    invariant: 'I-22',
    title: 'the time of the server goes back',
    parts: {
      calls: [
        call('heartbeat', {sent: 0, status: 200, body: {server_time_unix_ms: 5000}}),
        call('heartbeat', {sent: 20, status: 200, body: {server_time_unix_ms: 4999}}),
      ],
    },
    broken: /went back by 1 ms/,
  },
]
