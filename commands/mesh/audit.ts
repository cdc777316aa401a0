import {controlUrlFlag, formatAudit, MeshCommand, pageFlags, tableFlags} from '../../src/cli/index.js'

export default class MeshAudit extends MeshCommand<typeof MeshAudit> {
  static override summary = 'Show the audit log of a mesh.'
  static override description =
    `Lists entries, newest first. The log records granted, released, revoked and expired leases, actions of administrators, used
bootstrap tokens, and messages that became dead letters, were retried or were dropped. Entries are kept for 30 days. For
a granted lease, the time is the time of its last renewal. Requires a token of the role admin or mesh.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --max 1000 --before 4711 --json | jq ".entries[].action"',
  ]
  static override flags = {...tableFlags, ...controlUrlFlag, ...pageFlags('ENTRY', {defaultMax: 100, limit: 1000})}

  async run(): Promise<void> {
    const {max: limit, before: cursor} = this.flags
    const client = await this.client()
    const page = await client.listAudit({limit, cursor}, {signal: this.signal})
    await this.printPage(page, formatAudit(page.entries, this.view))
  }
}
