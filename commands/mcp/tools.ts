import {formatTools, McpCommand, settingFlags, tableFlags, toolProgramFlags} from '../../src/cli/index.js'
import {mcpSettings} from '../../src/config/index.js'

export default class McpTools extends McpCommand<typeof McpTools> {
  static override summary = 'List the MCP tools.'
  static override description =
    'Lists the tools of the selected tiers. --json prints the same result as tools/list of the server.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --tiers all',
    '<%= config.bin %> <%= command.id %> --json | jq ".tools[] | select(.name == \\"svc_submit_task\\").inputSchema"',
  ]
  static override flags = {...settingFlags(mcpSettings, 'tiers'), ...toolProgramFlags, ...tableFlags}

  async run(): Promise<void> {
    const registry = await this.registry(this.flags.program)
    const tools = registry.listed(await this.tiers())
    const {listTool} = await import('../../src/mcp/index.js')
    await this.output.result({tools: tools.map(listTool)}, () => formatTools(tools, this.view))
  }
}
