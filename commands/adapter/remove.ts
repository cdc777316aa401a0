import {Args} from '@oclif/core'
import {AdapterCommand, adminFlags} from '../../src/cli/index.js'
import type {AdapterRemoveV1} from '../../src/contracts/index.js'

export default class AdapterRemove extends AdapterCommand<typeof AdapterRemove> {
  static override summary = 'Remove an adapter from a running server.'
  static override description =
    `Requests for its name then get status 404. Running replies end first, and the files of the adapter stay. Requires the admin key
of the server.`
  static override examples = ['<%= config.bin %> <%= command.id %> legal']
  static override args = {name: Args.string({description: 'Name of the adapter.', required: true})}
  static override flags = adminFlags

  async run(): Promise<void> {
    const {removeAdapter} = await import('../../src/inference-client/index.js')
    const {name} = this.args
    await this.withServer(this.flags['admin-key-env'], async (client, server) => {
      await removeAdapter(client, name, this.signal)
      const result: AdapterRemoveV1 = {server, adapter: name}
      await this.output.result(result, () => `Removed ${name}.`)
    })
  }
}
