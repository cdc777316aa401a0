import {AdapterCommand, formatTable, megabytes, serverFlag} from '../../src/cli/index.js'
import type {AdapterListV1} from '../../src/contracts/index.js'

export default class AdapterList extends AdapterCommand<typeof AdapterList> {
  static override summary = 'List the adapters of a server.'
  static override description =
    `Asks a server of svc for its adapters. Each is a model of its own for clients. The server is the one that other commands use,
unless --server names another.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json | jq -r .adapters[].name',
  ]
  static override flags = {server: serverFlag}

  async run(): Promise<void> {
    const {listAdapters} = await import('../../src/inference-client/index.js')
    await this.withServer(undefined, async (client, server) => {
      const adapters = await listAdapters(client, this.signal)
      const result: AdapterListV1 = {server, adapters}
      const rows = adapters.map(({name, size_bytes: size, pinned, loaded}) => [
        name,
        `${megabytes(size)} MB`,
        loaded ? (pinned ? 'always' : 'yes') : 'no',
      ])
      await this.output.result(result, () =>
        formatTable(['NAME', 'SIZE', 'IN MEMORY'], rows, this.view, `${server} has no adapters.`),
      )
    })
  }
}
