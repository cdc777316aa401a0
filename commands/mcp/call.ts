import {Args} from '@oclif/core'
import {McpCommand, readTextInput, toolProgramFlags} from '../../src/cli/index.js'
import {SvcError} from '../../src/errors/index.js'
import {inexactNumber} from '../../src/files/index.js'

export default class McpCall extends McpCommand<typeof McpCall> {
  static override summary = 'Call an MCP tool.'
  static override description =
    `Runs the tool in this process, without a server, and prints its result. --json prints the complete MCP result, even if
the call fails. If it fails, the exit status is that of the error.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> svc_orchestrator_status',
    '<%= config.bin %> <%= command.id %> svc_submit_task \'{"description": "Add retry to the client", "files": []}\'',
    "jq -n '{task_id: 1}' | <%= config.bin %> <%= command.id %> svc_task_status - --json",
  ]
  static override args = {
    name: Args.string({description: 'Tool name.', required: true}),
    arguments: Args.string({description: 'Arguments of the tool, as a JSON object; - reads standard input.'}),
  }
  static override flags = toolProgramFlags

  async run(): Promise<void> {
    const {configureLog} = await import('../../src/log/index.js')
    configureLog(this.logOptions())
    const toolArguments = await this.#arguments()
    const {callTool} = await import('../../src/mcp/index.js')
    const registry = await this.registry(this.flags.program)
    const {envelope, error} = await callTool(registry, this.args.name, toolArguments, this.host, {
      signal: this.signal,
      report: () => undefined,
      notice: (text) => this.output.notice(text),
      ask: undefined,
    })
    if (error !== undefined && !this.output.json) throw error
    await this.output.result(envelope, ({data}) => (data === undefined ? '' : asText(data)))
    if (error !== undefined) this.exit(error.exit)
  }

  /** @throws usage */
  async #arguments(): Promise<Readonly<Record<string, unknown>>> {
    const {arguments: argument = '{}'} = this.args
    const text = argument === '-' ? await readTextInput(this.signal) : argument
    const parsed = parse(text)
    const fault = parsed === undefined ? undefined : inexactNumber(text)
    if (fault !== undefined) throw new SvcError('usage', {reason: `The tool arguments are refused: ${fault}.`})
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return parsed as Record<string, unknown>
    throw new SvcError('usage', {reason: 'The tool arguments must be a JSON object, such as {"task_id": 1}.'})
  }
}

const asText = (data: unknown) => (typeof data === 'string' ? data : JSON.stringify(data, null, 2))

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
