import {controlUrlFlag, formatAudit, MeshCommand, pageFlags} from '../../src/cli/index.js'

export default class MeshAudit extends MeshCommand<typeof MeshAudit> {
  static override summary = 'Show the audit log of a mesh.'
  static override description =
    `Lists entries newest first: leases that were granted, released, revoked or expired, actions of administrators, messages that
became dead letters or were retried or dropped, and used bootstrap tokens. Entries are kept for 30 days. The time of a granted
lease is that of its last renewal. Requires a token of the role admin or mesh.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --max 1000 --before 4711 --json | jq ".entries[].action"',
  ]
  static override flags = {...controlUrlFlag, ...pageFlags('ENTRY', {defaultMax: 100, limit: 1000})}

  async run(): Promise<void> {
    const {max: limit, before: cursor} = this.flags
    const client = await this.client()
    const page = await client.listAudit({limit, cursor}, {signal: this.signal})
    await this.printPage(page, formatAudit(page.entries))
  }
}
