import {homedir} from 'node:os'
import {join} from 'node:path'
import {Flags} from '@oclif/core'
import {SvcCommand} from '../../src/cli/index.js'
import type {McpConfigV1} from '../../src/contracts/index.js'
import type {ClientName} from '../../src/mcp/index.js'

export default class McpConfig extends SvcCommand<typeof McpConfig> {
  static override summary = 'Show or write the MCP configuration for a client.'
  static override description =
    `The configuration starts the MCP server for this workspace. It contains the absolute paths of Node.js, svc and the
workspace, so it works from any directory. Without --client, prints the common format, which most clients read.

--write merges the entry into the configuration file of the client, keeping comments and all other settings. The
previous file is kept as a backup with the suffix .backup-TIME. If the file cannot be parsed, it is not changed and the
exit status is 2.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --client zed',
    '<%= config.bin %> <%= command.id %> --client vscode --write',
    '<%= config.bin %> <%= command.id %> --cwd ~/work/shop --client cursor --name shop --write',
  ]
  static override flags = {
    client: Flags.option({options: ['claude', 'cursor', 'vscode', 'zed'] as const})({
      description: 'Client to configure. (default: the common format)',
    }),
    write: Flags.boolean({
      description: 'Merge the entry into the configuration file of the client.',
      dependsOn: ['client'],
    }),
    name: Flags.string({description: 'Server name in the client.', default: 'svc'}),
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
  return `Wrote ${name} to ${file}.${backup === null ? '' : `\nBackup of the previous file: ${backup}`}`
}
