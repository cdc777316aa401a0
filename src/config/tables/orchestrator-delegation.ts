import {sectionSettings} from '../setting.js'
import {boolean, choice, choices, integer, milliseconds, type SettingType, seconds} from '../types.js'

/** Messages identify agents by number, and the file may contain a number instead of a string. */
const agentId = (): SettingType<string> => {
  const parse = (value: string) => (/^\d{1,20}$/.test(value) ? value : undefined)
  return {
    expected: 'an agent number',
    parse,
    accept: (value) => (typeof value === 'string' || Number.isSafeInteger(value) ? parse(String(value)) : undefined),
  }
}

const roles = choices('planner', 'builder', 'verifier', 'reproducer', 'researcher')

/** Tasks that other nodes of the mesh run. */
export const orchestratorDelegationSettings = sectionSettings('orchestrator', () => ({
  meshRemoteExecuteExperimental: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_EXPERIMENTAL'],
    default: false,
    doc: 'Send tasks to other nodes, and run them locally if that fails.',
  },
  meshRemoteExecuteReceiverAgent: {
    type: agentId(),
    env: ['SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_RECEIVER_AGENT'],
    clears: ['SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_RECEIVER_AGENT'],
    doc: 'Agent that receives the tasks that nodes send; without one, no task is sent, and workers use 2.',
  },
  meshRemoteExecuteSenderAgent: {
    type: agentId(),
    env: ['SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_SENDER_AGENT'],
    clears: ['SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_SENDER_AGENT'],
    doc: 'Agent whose inbox receives the results of sent tasks, and that no other workspace uses; default: one of this workspace.',
  },
  meshRemoteLeaseGatingEnabled: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_MESH_REMOTE_LEASE_GATING_ENABLED'],
    default: false,
    doc: 'Send only tasks with one of the listed roles; otherwise, tasks of every role are sent.',
  },
  meshRemoteLeaseGatedRoles: {
    type: roles,
    env: ['SVC_ORCHESTRATOR_MESH_REMOTE_LEASE_GATED_ROLES'],
    default: [],
    doc: 'Roles whose tasks are sent to other nodes; an empty list sends none.',
  },
  meshRemoteLeaseTimeoutMs: {
    type: milliseconds(1),
    default: 300_000,
    doc: 'Time without a heartbeat of the worker after which a task runs locally, in milliseconds.',
  },
  meshRemoteReplaceLostWorker: {
    type: boolean('strict'),
    default: false,
    doc: 'Wait for another worker instead of running a task locally when its worker sends no heartbeats.',
  },
  meshRemoteReconcile: {
    type: choice('keep_original', 'keep_replacement'),
    default: 'keep_original',
    doc: 'Whose result counts if a lost worker returns after another one has started its task: the first, or the other one.',
  },
  meshRemoteResultPollIntervalSecs: {
    type: seconds(),
    env: ['SVC_ORCHESTRATOR_MESH_REMOTE_RESULT_POLL_INTERVAL_SECS'],
    default: 5,
    doc: 'Pause between polls for results of sent tasks after an error, in seconds; 0 sends no tasks.',
  },
  meshRemoteWorkerPollIntervalSecs: {
    type: seconds(),
    env: ['SVC_ORCHESTRATOR_MESH_REMOTE_WORKER_POLL_INTERVAL_SECS'],
    default: 5,
    doc: 'Interval for polling tasks of other nodes, in seconds; 0 accepts none. If set, svc daemon run also accepts them.',
  },
  meshRemoteResultMaxMessagesPerPoll: {
    type: integer({min: 1, max: 256, clamp: true}),
    env: ['SVC_ORCHESTRATOR_MESH_REMOTE_RESULT_MAX_MESSAGES_PER_POLL'],
    default: 64,
    doc: 'Maximum number of result messages per poll.',
  },
  meshExecLeaseReconcile: {
    type: boolean('flag'),
    env: ['SVC_ORCHESTRATOR_MESH_EXEC_LEASE_RECONCILE'],
    default: false,
    doc: 'Compare the holders of leases with the nodes that are present; requires a token of the role admin or mesh.',
  },
  meshExecLeaseAutoRevoke: {
    type: boolean('flag'),
    env: ['SVC_ORCHESTRATOR_MESH_EXEC_LEASE_AUTO_REVOKE'],
    default: false,
    doc: 'Revoke the leases of nodes that are gone; requires mesh_exec_lease_reconcile.',
  },
  meshPollIntervalSecs: {
    type: seconds(),
    env: ['SVC_ORCHESTRATOR_MESH_POLL_INTERVAL_SECS'],
    default: 30,
    doc: 'Interval for polling the nodes of the mesh, in seconds; 0 disables polling.',
  },
  meshHttpTimeoutMs: {
    type: integer({min: 500, max: 600_000, clamp: true}),
    env: ['SVC_ORCHESTRATOR_MESH_HTTP_TIMEOUT_MS'],
    default: 10_000,
    doc: 'Timeout of a request to the control plane, in milliseconds.',
  },
}))
