import {controlUrlFlag, formatDeadMessages, MeshCommand, pageFlags} from '../../../src/cli/index.js'

export default class MeshDeadList extends MeshCommand<typeof MeshDeadList> {
  static override summary = 'List dead messages of the mesh.'
  static override description =
    `A message that was claimed 16 times without an acknowledgement is dead: it is in no inbox, and is removed after seven days.
Lists the newest first. Takes the token of an administrator, or of the role mesh.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json | jq .messages[].id | xargs <%= config.bin %> mesh dead retry',
  ]
  static override flags = {...controlUrlFlag, ...pageFlags('MESSAGE', {usual: 64, most: 256})}

  async run(): Promise<void> {
    const {max: limit, before: cursor} = this.flags
    const client = await this.client()
    const page = await client.listDead({limit, cursor}, {signal: this.signal})
    await this.printPage(page, formatDeadMessages(page.messages))
  }
}
