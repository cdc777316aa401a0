import {Flags} from '@oclif/core'
import {SvcCommand} from '../../src/cli/index.js'
import type {MeshInitV1} from '../../src/contracts/index.js'
import {counted} from '../../src/errors/index.js'
import type {MeshInit} from '../../src/mesh/index.js'

export default class MeshInitCommand extends SvcCommand<typeof MeshInitCommand> {
  static override summary = 'Create the secrets of a mesh and a bootstrap token.'
  static override description =
    `Writes .svc/mesh/mesh.env in the workspace, readable only by this user and ignored by git. It contains a token for each
of the roles mesh, worker, submitter and admin, and a short-lived bootstrap token for one node.

Prints the join command for the other machine. It contains the bootstrap token and the address in SVC_MESH_CONTROL_ADDR,
or else the default address of svc mesh serve. No other secret is printed. A running control plane reloads the file on
SIGHUP. Exits with status 4 if the file already contains secrets.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --scope lab --jwt',
    '<%= config.bin %> <%= command.id %> --bootstrap --bootstrap-minutes 30',
  ]
  static override flags = {
    bootstrap: Flags.boolean({
      description: 'Create only a bootstrap token for another node, and keep all other secrets.',
      exclusive: ['force', 'jwt'],
    }),
    'bootstrap-minutes': Flags.integer({
      description: 'Lifetime of the bootstrap token.',
      default: 10,
      min: 1,
      max: 1440,
      helpValue: 'MINUTES',
    }),
    jwt: Flags.boolean({description: 'Also create a key for signing JWTs that contain a role and a node id.'}),
    scope: Flags.string({description: 'Scope that all clients of the mesh must use.', helpValue: 'ID'}),
    force: Flags.boolean({description: 'Replace existing secrets.'}),
  }

  async run(): Promise<void> {
    const {initMesh} = await import('../../src/mesh/index.js')
    const {bootstrap, force, jwt, scope, 'bootstrap-minutes': bootstrapMinutes} = this.flags
    const result = await initMesh({
      root: this.workspace.root,
      sources: this.settingSources(),
      how: bootstrap ? 'bootstrap' : force ? 'replace' : 'create',
      jwt,
      scope,
      bootstrapMinutes,
    })
    for (const warning of result.warnings) this.output.notice(`warning: ${warning}`)
    await this.output.result(toResult(result), () => asText(result, bootstrapMinutes))
  }
}

const toResult = ({path, written, overruled, scope, ...result}: MeshInit): MeshInitV1 => ({
  path,
  written,
  overruled,
  scope_id: scope ?? null,
  bootstrap_token: result.bootstrapToken,
  bootstrap_expires_unix_ms: result.bootstrapExpiresUnixMs,
  join_command: result.joinCommand,
})

const asText = ({path, written, joinCommand}: MeshInit, minutes: number): string =>
  `Wrote ${path}:
${written.map((name) => `  ${name}\n`).join('')}A running control plane reads this file again on SIGHUP.

To add a node, run this on the other machine within ${counted(minutes, 'minute')}:
  ${joinCommand}
`
