import {Args} from '@oclif/core'
import {asLease, controlUrlFlag, MeshCommand} from '../../../src/cli/index.js'

export default class MeshAdminRevokeLease extends MeshCommand<typeof MeshAdminRevokeLease> {
  static override summary = 'Revoke a lease.'
  static override description =
    `The next renewal by the holder fails; the holder must then stop the leased work. Reject late results by their older
lease id. Requires a token of the role admin or mesh.`
  static override examples = ['<%= config.bin %> <%= command.id %> 17']
  static override args = {
    lease: Args.string({description: 'Lease id.', required: true, parse: asLease('LEASE')}),
  }
  static override flags = {...controlUrlFlag}

  async run(): Promise<void> {
    const {lease} = this.args
    const client = await this.client()
    await client.revokeLease(lease, {signal: this.signal})
    await this.output.result({lease_id: lease, revoked: true}, () => `lease ${lease} is revoked`)
  }
}
