import {SvcError} from '../../errors/index.js'
import type {ExecLease, LocalStatus, MeshClient} from '../../mesh/index.js'
import type {OperationContext} from '../context.js'
import {type Operation, operation} from '../operation.js'
import {integer, list, object, text} from '../schema.js'

interface Input {
  registry_path?: string
}

/** A client of the configured control plane. @throws mesh_address_missing */
function controlPlane({modules, orchestrator}: OperationContext): MeshClient {
  const client = modules.messages.meshClientOf(orchestrator.config)
  if (client === undefined) throw new SvcError('mesh_address_missing', {})
  return client
}

/** Without retries: a person waits for the answer. */
const once = ({signal}: OperationContext) => ({retry: false, signal})

export const meshOperations: readonly Operation[] = [
  operation<Input, LocalStatus>({
    name: 'mesh_local_status',
    title: 'Show local mesh status',
    summary: 'Show the mesh settings of this process and the nodes registered on this machine.',
    effect: 'read',
    idempotent: true,
    input: object({
      registry_path: text('Registry file in the workspace; default: the registry of this machine.', {
        minLength: 1,
        maxLength: 4096,
      }),
    }),
    output: object(
      {
        mesh_env: object({}, {open: true}),
        registry_path: text(),
        registry: object(
          {schema_version: integer(), nodes: list(object({id: text()}, {required: ['id'], open: true}))},
          {required: ['schema_version', 'nodes'], open: true},
        ),
      },
      {required: ['mesh_env', 'registry_path', 'registry']},
    ),
    bindings: {
      rpc: {method: 'mesh.local_status'},
      tool: {name: 'svc_mesh_local_status', tier: 'dev', lane: 'platform'},
    },
    async run({registry_path: path}, {orchestrator, sources}) {
      const {localStatus} = await import('../../mesh/index.js')
      return localStatus(sources, {root: orchestrator.root, path})
    },
  }),
  operation<object, {control_url: string; leases: ExecLease[]}>({
    name: 'list_leases',
    title: 'List leases of the mesh',
    summary: 'List the active leases of the control plane.',
    effect: 'read',
    idempotent: true,
    openWorld: true,
    input: object({}),
    output: object(
      {
        control_url: text(),
        leases: list(
          object(
            {
              lease_id: text(),
              fence_token: integer(),
              scope_key: text('Leased key.'),
              holder_node_id: text(),
              expires_unix_ms: integer('On the clock of the control plane.'),
            },
            {required: ['lease_id', 'scope_key', 'holder_node_id', 'expires_unix_ms'], open: true},
          ),
        ),
      },
      {required: ['control_url', 'leases']},
    ),
    bindings: {rpc: {method: 'mesh.leases'}},
    async run(_, context) {
      const client = controlPlane(context)
      return {control_url: client.baseUrl, leases: await client.listLeases(once(context))}
    },
  }),
  operation<{lease_id: string}, {revoked: boolean}>({
    name: 'revoke_lease',
    title: 'Revoke a lease of the mesh',
    summary: 'Revoke a lease, so that another node can acquire its key immediately.',
    effect: 'destructive',
    idempotent: true,
    openWorld: true,
    input: object({lease_id: text('Id of the lease.', {minLength: 1, maxLength: 32})}, {required: ['lease_id']}),
    output: object({revoked: {type: 'boolean'}}, {required: ['revoked']}),
    bindings: {rpc: {method: 'mesh.revoke_lease'}},
    async run({lease_id: lease}, context) {
      await controlPlane(context).revokeLease(lease, once(context))
      return {revoked: true}
    },
  }),
]
