import type {LocalStatus} from '../../mesh/index.js'
import {type Operation, operation} from '../operation.js'
import {integer, list, object, text} from '../schema.js'

interface Asked {
  registry_path?: string
}

/** What a workspace can tell of the mesh by itself. */
export const meshOperations: readonly Operation[] = [
  operation<Asked, LocalStatus>({
    name: 'mesh_local_status',
    title: 'Nodes of this machine',
    summary: 'Tell how this process takes part in the mesh, and list the nodes that this machine was started as.',
    effect: 'read',
    idempotent: true,
    input: object({
      registry_path: text('A registry of the workspace, where it is not that of this machine.', {
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
      tool: {name: 'svc_mesh_local_status', tier: 'dev', lane: 'platform'},
    },
    async run({registry_path: path}, {orchestrator, sources}) {
      const {localStatus} = await import('../../mesh/index.js')
      return localStatus(sources, {root: orchestrator.root, path})
    },
  }),
]
