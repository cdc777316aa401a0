import {Args} from '@oclif/core'
import {asLease, controlUrlFlag, MeshCommand} from '../../../src/cli/index.js'

export default class MeshAdminRevokeLease extends MeshCommand<typeof MeshAdminRevokeLease> {
  static override summary = 'End a lease, whoever holds it.'
  static override description =
    `Its holder learns of it when it renews it next, and stops what it stood for; what it brings afterwards is told by the older
number of its lease. Takes the token of an administrator, or of the role mesh.`
  static override examples = ['<%= config.bin %> <%= command.id %> 17']
  static override args = {
    lease: Args.string({description: 'The lease, by its number.', required: true, parse: asLease('LEASE')}),
  }
  static override flags = {...controlUrlFlag}

  async run(): Promise<void> {
    const {lease} = this.args
    const client = await this.client()
    await client.revokeLease(lease, {signal: this.signal})
    await this.output.result({lease_id: lease, revoked: true}, () => `lease ${lease} is revoked`)
  }
}
