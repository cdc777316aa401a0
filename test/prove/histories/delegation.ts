import type {DelegationRow, Observed, TaskRow} from '../../../src/prove/history/history.js'
import {type Case, call, claim, grant, leaseRow, messageRow, ofMessage, own} from '../history.js'

const key = 'orch-remote-1-1'
const envelopeOf = (lease: string, of = key) => JSON.stringify({idempotency_key: of, exec_lease_id: lease})

/** A completed task that a worker ran under lease 7. */
const task = (facts: Partial<TaskRow> = {}): TaskRow => ({
  orchestrator: 'orchestrator-1',
  id: 1,
  uid: 'u1',
  status: 'Completed',
  tag: 'task-1',
  run: 'r1',
  lease: '7',
  ends: 1,
  starts: 0,
  placement: 'populi_remote_lease_hold',
  ...facts,
})

const delegation = (facts: Partial<DelegationRow> = {}): DelegationRow => ({
  orchestrator: 'orchestrator-1',
  task_uid: 'u1',
  idempotency_key: key,
  state: 'done',
  lease_id: '7',
  worker_node_id: 'worker-1',
  ...facts,
})

const envelope = (id: number, attempts = 1) =>
  messageRow(id, {type: 'remote_task_envelope', payload: envelopeOf('7'), attempts, acked_at: 1})

const remote = {run: 'r1', tag: 'task-1', where: 'worker-1'}
const local = {run: 'r2', tag: 'task-1', where: 'orchestrator-1'}
const sound = {tasks: [task()], delegations: [delegation()], runs: [remote], messages: [envelope(1)]}

const observed = (each: Observed): Observed => ({...each, who: 'orchestrator-1', isObserved: true})
const granted = (sent: number) => observed(grant('orch-1', 'task:u1', 7, sent))
const renewed = (sent: number, status = 204) => observed(own('exec_lease_renew', 'orch-1', 7, sent, status))
const relayed = (sent: number) =>
  observed(
    call('a2a_deliver', {
      sent,
      status: 200,
      args: {message_type: 'remote_task_envelope', payload: envelopeOf('7')},
    }),
  )

/** Histories of delegated tasks. Times are ms; a lease lasts 1000 ms. */
export const delegationCases: Case[] = [
  {invariant: 'I-9', title: 'a result under the latest lease', parts: sound},
  {
    invariant: 'I-9',
    title: 'a task that does not end',
    parts: {...sound, tasks: [task({status: 'InProgress', ends: 0})]},
    broken: /Task 1 of orchestrator-1 is InProgress/,
  },
  {
    invariant: 'I-9',
    title: 'a task that ends twice',
    parts: {...sound, tasks: [task({ends: 2})]},
    broken: /ended 2 times/,
  },
  {
    invariant: 'I-9',
    title: 'a result under a lease, although the task was sent again',
    parts: {...sound, delegations: [delegation(), delegation({idempotency_key: 'later', lease_id: '8'})]},
    broken: /result of lease 7, but was sent again under 8/,
  },
  {invariant: 'I-10', title: 'a result of a worker', parts: sound},
  {
    invariant: 'I-10',
    title: 'a local result after a worker has also run the task',
    parts: {
      ...sound,
      tasks: [task({run: 'r2', lease: null, starts: 1})],
      delegations: [delegation({state: 'superseded'})],
      runs: [remote, local],
    },
  },
  {
    invariant: 'I-10',
    title: 'a result of a delegation that had been superseded',
    parts: {...sound, delegations: [delegation({state: 'superseded'})]},
    broken: /a result of a delegation that had ended/,
  },
  {
    invariant: 'I-10',
    title: 'a result of a worker after the task has fallen back',
    parts: {...sound, tasks: [task({placement: 'local_queue_fallback_after_remote_relay_error'})]},
    broken: /although it had fallen back/,
  },
  {
    invariant: 'I-10',
    title: 'a local result of a task whose delegation is also done',
    parts: {...sound, tasks: [task({run: 'r2', lease: null, starts: 1})], runs: [remote, local]},
    broken: /counts as run here/,
  },
  {
    invariant: 'I-10',
    title: 'a result of no run',
    parts: {...sound, runs: [{...remote, run: 'r9'}]},
    broken: /none of its runs/,
  },
  {
    invariant: 'I-10',
    title: 'a run without a claim',
    parts: {...sound, runs: [remote, {...remote, run: 'r3'}]},
    broken: /ran 2 times on workers, which claimed it 1 times/,
  },
  {
    invariant: 'I-10',
    title: 'a local run without a start',
    parts: {...sound, runs: [remote, local]},
    broken: /ran 1 times here, but started 0/,
  },
  {invariant: 'I-11', title: 'a delegation with one message', parts: sound},
  {
    invariant: 'I-11',
    title: 'a delegation with two messages',
    parts: {...sound, messages: [envelope(1), envelope(2)]},
    broken: /as the messages 1, 2/,
  },
  {
    invariant: 'I-11',
    title: 'a superseded delegation that holds its lease',
    parts: {
      ...sound,
      delegations: [delegation({state: 'superseded'})],
      calls: [call('list_nodes', {sent: 0, status: 200, body: {server_time_unix_ms: 100}})],
      leases: [leaseRow(7, {scope_key: 'task:u1', state: 'granted', expires_at: 200})],
    },
    broken: /still holds lease 7/,
  },
  {
    invariant: 'I-21',
    title: 'renewals and an envelope within the lease',
    parts: {calls: [granted(0), relayed(100), renewed(600), renewed(1500)]},
  },
  {
    invariant: 'I-21',
    title: 'a renewal after the deadline',
    parts: {calls: [granted(0), renewed(1200)]},
    broken: /acted 190 ms after the deadline of its lease 7/,
  },
  {
    invariant: 'I-21',
    title: 'an envelope after the lease was refused',
    parts: {calls: [granted(0), renewed(200, 404), relayed(800)]},
    broken: /its lease 7, which had been refused/,
  },
  {
    invariant: 'I-21',
    title: 'a renewal of a lease that was granted again after a refusal',
    parts: {calls: [granted(0), renewed(200, 403), granted(400), renewed(900)]},
  },
  {
    invariant: 'I-21',
    title: 'a renewal of a claim after its deadline',
    parts: {calls: [claim('worker-1', 5, 0), ofMessage('a2a_lease_renew', 'worker-1', 5, 1100)].map(observed)},
    broken: /acted 90 ms after the deadline of its claim 5 of worker-1/,
  },
  {
    invariant: 'alive',
    title: 'a program that the control plane has refused',
    parts: {events: [{event: 'program_refused', at: 0, who: 'worker-1', exitCode: 4}]},
  },
  {
    invariant: 'alive',
    title: 'a program that exits',
    parts: {events: [{event: 'program_died', at: 0, who: 'worker-1', exitCode: 1}]},
    broken: /worker-1 exited with the status 1/,
  },
]
