import {Args} from '@oclif/core'
import {AdapterCommand, adminFlags} from '../../src/cli/index.js'
import type {AdapterAddV1} from '../../src/contracts/index.js'

export default class AdapterAdd extends AdapterCommand<typeof AdapterAdd> {
  static override summary = 'Add an adapter to a running server.'
  static override description =
    `Serves a directory below that of svc serve --adapters under a name, without a restart. An adapter with the same name is replaced;
running replies keep the one that they started with. Requires the admin key of the server.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> legal',
    '<%= config.bin %> <%= command.id %> legal legal-2026 --server http://127.0.0.1:11500',
  ]
  static override args = {
    name: Args.string({description: 'Name that clients request.', required: true}),
    path: Args.string({description: 'Its directory below that of --adapters. (default: the name)'}),
  }
  static override flags = adminFlags

  async run(): Promise<void> {
    const {addAdapter} = await import('../../src/inference-client/index.js')
    const {name, path = name} = this.args
    await this.withServer(this.flags['admin-key-env'], async (client, server) => {
      const state = await addAdapter(client, name, path, this.signal)
      const result: AdapterAddV1 = {server, adapter: name, state}
      await this.output.result(result, () => (state === 'added' ? `Added ${name}.` : `Replaced ${name}.`))
    })
  }
}
