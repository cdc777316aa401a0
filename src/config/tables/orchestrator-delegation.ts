import {sectionSettings} from '../setting.js'
import {boolean, choices, integer, milliseconds, type SettingType, seconds} from '../types.js'

/** Agents are numbers on the wire; the file may write one as such. */
const agentId = (): SettingType<string> => {
  const parse = (value: string) => (/^\d{1,20}$/.test(value) ? value : undefined)
  return {
    expected: 'the number of an agent',
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
    planned: true,
    doc: 'Send tasks to other nodes, and run them here where that fails.',
  },
  meshRemoteExecuteReceiverAgent: {
    type: agentId(),
    env: ['SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_RECEIVER_AGENT'],
    clears: ['SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_RECEIVER_AGENT'],
    planned: true,
    doc: 'Agent that receives the tasks of this node; without one none is sent.',
  },
  meshRemoteExecuteSenderAgent: {
    type: agentId(),
    env: ['SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_SENDER_AGENT'],
    clears: ['SVC_ORCHESTRATOR_MESH_REMOTE_EXECUTE_SENDER_AGENT'],
    planned: true,
    doc: 'Agent in whose name tasks are sent, and whose inbox gets the results.',
  },
  meshRemoteLeaseGatingEnabled: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_MESH_REMOTE_LEASE_GATING_ENABLED'],
    default: false,
    planned: true,
    doc: 'Send only tasks of the roles that are listed.',
  },
  meshRemoteLeaseGatedRoles: {
    type: roles,
    env: ['SVC_ORCHESTRATOR_MESH_REMOTE_LEASE_GATED_ROLES'],
    default: [],
    planned: true,
    doc: 'Roles whose tasks are sent; an empty list is none.',
  },
  meshRemoteLeaseTimeoutMs: {
    type: milliseconds(1),
    default: 300_000,
    planned: true,
    doc: 'Milliseconds without a renewed lease after which a task is run here.',
  },
  meshRemoteResultPollIntervalSecs: {
    type: seconds(),
    env: ['SVC_ORCHESTRATOR_MESH_REMOTE_RESULT_POLL_INTERVAL_SECS'],
    default: 5,
    planned: true,
    doc: 'Seconds between two looks for results; 0 never looks.',
  },
  meshRemoteWorkerPollIntervalSecs: {
    type: seconds(),
    env: ['SVC_ORCHESTRATOR_MESH_REMOTE_WORKER_POLL_INTERVAL_SECS'],
    default: 5,
    planned: true,
    doc: 'Seconds between two looks for tasks of other nodes; 0 takes none.',
  },
  meshRemoteResultMaxMessagesPerPoll: {
    type: integer({min: 1, max: 256, clamp: true}),
    env: ['SVC_ORCHESTRATOR_MESH_REMOTE_RESULT_MAX_MESSAGES_PER_POLL'],
    default: 64,
    planned: true,
    doc: 'Messages of a page of results.',
  },
  meshExecLeaseReconcile: {
    type: boolean('flag'),
    env: ['SVC_ORCHESTRATOR_MESH_EXEC_LEASE_RECONCILE'],
    default: false,
    planned: true,
    doc: 'Compare the holders of leases with the nodes that are there.',
  },
  meshExecLeaseAutoRevoke: {
    type: boolean('flag'),
    env: ['SVC_ORCHESTRATOR_MESH_EXEC_LEASE_AUTO_REVOKE'],
    default: false,
    planned: true,
    doc: 'Revoke the lease of a node that is gone; this takes the token of an administrator.',
  },
  meshPollIntervalSecs: {
    type: seconds(),
    env: ['SVC_ORCHESTRATOR_MESH_POLL_INTERVAL_SECS'],
    default: 30,
    planned: true,
    doc: 'Seconds between two looks at the nodes of the mesh; 0 never looks.',
  },
  meshHttpTimeoutMs: {
    type: integer({min: 500, max: 600_000, clamp: true}),
    env: ['SVC_ORCHESTRATOR_MESH_HTTP_TIMEOUT_MS'],
    default: 10_000,
    doc: 'Milliseconds that a request to the control plane may take.',
  },
}))
