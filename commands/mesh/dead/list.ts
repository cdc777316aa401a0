import {controlUrlFlag, formatDeadMessages, MeshCommand, pageFlags, tableFlags} from '../../../src/cli/index.js'

export default class MeshDeadList extends MeshCommand<typeof MeshDeadList> {
  static override summary = 'List dead letters.'
  static override description =
    `Lists dead letters, newest first. A message becomes a dead letter after 16 claims without an acknowledgement. Dead
letters are removed from the inbox and deleted after seven days. Requires a token of the role admin or mesh.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json | jq ".messages[].id" | xargs <%= config.bin %> mesh dead retry',
  ]
  static override flags = {...tableFlags, ...controlUrlFlag, ...pageFlags('MESSAGE', {defaultMax: 64, limit: 256})}

  async run(): Promise<void> {
    const {max: limit, before: cursor} = this.flags
    const client = await this.client()
    const page = await client.listDead({limit, cursor}, {signal: this.signal})
    await this.printPage(page, formatDeadMessages(page.messages, this.view))
  }
}
