import {controlUrlFlag, MeshCommand} from '../../../src/cli/index.js'
import type {MeshPromoteV1} from '../../../src/contracts/index.js'

/** More than a standby can be behind. */
const skippedTokens = 1_000_000

export default class MeshAdminPromote extends MeshCommand<typeof MeshAdminPromote> {
  static override summary = 'Change the next fencing token after a failover.'
  static override description =
    `Run this command after the database of the control planes has failed over to a standby. An asynchronous standby may not
know the last fencing tokens. The command raises their sequence by 1,000,000, so that no token is issued twice.

Once per failover is enough, and more often is harmless. Exits with status 4 if the database is a SQLite file. Requires a
token of the role admin or mesh.`
  static override examples = ['<%= config.bin %> <%= command.id %>']
  static override flags = {...controlUrlFlag}

  async run(): Promise<void> {
    const client = await this.client()
    const result: MeshPromoteV1 = await client.promoteStore(skippedTokens, {signal: this.signal})
    await this.output.result(result, () => `all new leases have ids above ${result.fence_token}`)
  }
}
