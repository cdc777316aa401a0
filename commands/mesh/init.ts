import {Flags} from '@oclif/core'
import {SvcCommand} from '../../src/cli/index.js'
import type {MeshInitV1} from '../../src/contracts/index.js'
import type {MeshInit} from '../../src/mesh/index.js'

export default class MeshInitCommand extends SvcCommand<typeof MeshInitCommand> {
  static override summary = 'Make the secrets of a mesh, and a token for its first node.'
  static override description =
    `Writes .svc/mesh/mesh.env of the workspace, which this user alone can read and git passes over: a token each for the
roles mesh, worker, submitter and admin, and one that lets a single node in and ends soon. That one is printed, in the line
to run on the other machine, with the address of SVC_MESH_CONTROL_ADDR or, without one, where svc mesh serve listens; no
other secret is ever shown. A control plane that runs already takes the new file at SIGHUP.
Ends with 4 where the file has secrets.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --scope lab --jwt',
    '<%= config.bin %> <%= command.id %> --bootstrap --bootstrap-minutes 30',
  ]
  static override flags = {
    bootstrap: Flags.boolean({
      description: 'Keep the secrets there are, and make only a token for the next node.',
      exclusive: ['force', 'jwt'],
    }),
    'bootstrap-minutes': Flags.integer({
      description: 'How long the token for the node is good.',
      default: 10,
      min: 1,
      max: 1440,
      helpValue: 'MINUTES',
    }),
    jwt: Flags.boolean({description: 'Make a key for tokens that name their role and their node, too.'}),
    scope: Flags.string({description: 'Scope that every process of the mesh has to name.', helpValue: 'ID'}),
    force: Flags.boolean({description: 'Make new secrets in the place of those there are.'}),
  }

  async run(): Promise<void> {
    const {initMesh} = await import('../../src/mesh/index.js')
    const {bootstrap, force, jwt, scope, 'bootstrap-minutes': bootstrapMinutes} = this.flags
    const made = await initMesh({
      root: this.workspace.root,
      sources: this.settingSources(),
      how: bootstrap ? 'bootstrap' : force ? 'replace' : 'create',
      jwt,
      scope,
      bootstrapMinutes,
    })
    for (const warning of made.warnings) this.output.notice(`warning: ${warning}`)
    await this.output.result(toResult(made), () => asText(made, bootstrapMinutes))
  }
}

const toResult = ({path, written, overruled, scope, ...made}: MeshInit): MeshInitV1 => ({
  path,
  written,
  overruled,
  scope_id: scope ?? null,
  bootstrap_token: made.bootstrapToken,
  bootstrap_expires_unix_ms: made.bootstrapExpiresUnixMs,
  join_command: made.joinCommand,
})

const asText = ({path, written, joinCommand}: MeshInit, minutes: number): string =>
  `Wrote ${path}:
${written.map((name) => `  ${name}\n`).join('')}
To let one node in, within ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, run there:
  ${joinCommand}
`
