import {homedir} from 'node:os'
import {join} from 'node:path'
import {Flags} from '@oclif/core'
import {SvcCommand} from '../../src/cli/index.js'
import type {McpConfigV1} from '../../src/contracts/index.js'
import type {ClientName} from '../../src/mcp/index.js'

export default class McpConfig extends SvcCommand<typeof McpConfig> {
  static override summary = 'Print the configuration that a client needs.'
  static override description =
    `The configuration starts the MCP server for this workspace. It names Node.js, svc and the workspace by absolute paths, so
it works from any folder. Without --client it has the form that most clients read.

With --write the entry is merged into the configuration file of the client. Comments and all other settings are kept, and
the previous file is kept next to it, with a name that ends in .backup- and the time. A file that cannot be parsed is
left unchanged; the command then exits with 2.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --client zed',
    '<%= config.bin %> <%= command.id %> --client vscode --write',
    '<%= config.bin %> <%= command.id %> --cwd ~/work/shop --client cursor --name shop --write',
  ]
  static override flags = {
    client: Flags.option({options: ['claude', 'cursor', 'vscode', 'zed'] as const})({
      description: 'Client to configure: Claude Desktop, Cursor, VS Code or Zed.',
    }),
    write: Flags.boolean({
      description: 'Merge the entry into the configuration file of the client.',
      dependsOn: ['client'],
    }),
    name: Flags.string({description: 'Name of the server in the client.', default: 'svc'}),
  }

  async run(): Promise<void> {
    const {clientConfiguration, clientFile, mergeIntoClientFile} = await import('../../src/mcp/index.js')
    const {client, name, write = false} = this.flags as {client?: ClientName; name: string; write?: boolean}
    const configuration = clientConfiguration(client, name, {
      command: process.execPath,
      args: [join(this.config.root, 'bin', 'svc.js'), 'mcp', 'serve', '--cwd', this.workspace.root],
    })
    const folders = {platform: process.platform, home: homedir(), env: process.env}
    const file = client === undefined ? null : clientFile(client, folders)
    const backup = write && file !== null ? await mergeIntoClientFile(file, configuration) : null
    if (file !== null && !write) this.output.notice(`Merge this into ${file}, or add --write.`)
    await this.output.result<McpConfigV1>(
      {client: client ?? null, file, configuration, written: write && backup !== null, backup: backup ?? null},
      (result) => (write ? asText(result, name) : JSON.stringify(configuration, null, 2)),
    )
  }
}

function asText({file, written, backup}: McpConfigV1, name: string): string {
  if (!written) return `${file} already has this entry.`
  return `Wrote ${name} to ${file}.${backup === null ? '' : `\nThe previous file is ${backup}.`}`
}
