import {controlUrlFlag, formatAudit, MeshCommand, pageFlags} from '../../src/cli/index.js'

export default class MeshAudit extends MeshCommand<typeof MeshAudit> {
  static override summary = 'Show the audit of a mesh.'
  static override description =
    `Lists the newest entry first: leases that were granted, released, revoked or expired, what administrators did, messages that
were given up, retried or dropped, and tokens for new nodes that were used. Entries are kept for 30 days. The time of a
granted lease is that of its last renewal. Takes the token of an administrator, or of the role mesh.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --max 1000 --before 4711 --json | jq .entries[].action',
  ]
  static override flags = {...controlUrlFlag, ...pageFlags('ENTRY', {usual: 100, most: 1000})}

  async run(): Promise<void> {
    const {max: limit, before: cursor} = this.flags
    const client = await this.client()
    const page = await client.listAudit({limit, cursor}, {signal: this.signal})
    await this.printPage(page, formatAudit(page.entries))
  }
}
