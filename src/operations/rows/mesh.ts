import type {LocalStatus} from '../../mesh/index.js'
import {type Operation, operation} from '../operation.js'
import {integer, list, object, text} from '../schema.js'

interface Input {
  registry_path?: string
}

/** Mesh information that is available locally, without a control plane. */
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
]
