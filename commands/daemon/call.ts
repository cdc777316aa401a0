import {Args, Flags} from '@oclif/core'
import {readTextInput, SvcCommand} from '../../src/cli/index.js'
import {daemonSettings} from '../../src/config/index.js'
import type {DaemonClient} from '../../src/daemon/index.js'
import {SvcError} from '../../src/errors/index.js'
import {parseExactJson} from '../../src/files/index.js'

/** The method that streams events after its result. */
const subscribing = 'orch.events.subscribe'

export default class DaemonCall extends SvcCommand<typeof DaemonCall> {
  static override summary = 'Call a method of the daemon.'
  static override description =
    `Connects to the address in SVC_ORCHESTRATOR_DAEMON_SOCKET, or else to the daemon of the workspace. To list the methods,
call orch.methods. The result is printed as one line of JSON.

After the result of orch.events.subscribe, prints one line per event until interrupted. To resume without missing
events, pass the id of the last event as since_id.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> orch.status',
    `<%= config.bin %> <%= command.id %> orch.submit_task '{"description": "Run the tests"}'`,
    'echo \'{"task_id": 18}\' | <%= config.bin %> <%= command.id %> orch.task_status -',
    `<%= config.bin %> <%= command.id %> orch.events.subscribe '{"types": ["task_failed"], "since_id": 118}'`,
  ]
  static override args = {
    method: Args.string({description: 'Method name.', required: true}),
    params: Args.string({
      description: 'Parameters of the method, as a JSON object; - reads standard input.',
      default: '{}',
    }),
  }
  static override flags = {
    stream: Flags.boolean({
      description: 'Keep the connection open after the result and print all notifications that follow.',
    }),
    timeout: Flags.integer({
      description: 'Time to wait for the result; exits with status 5 on timeout.',
      default: 60,
      min: 1,
      max: 86_400,
      helpValue: 'SECONDS',
    }),
  }

  async run(): Promise<void> {
    const {method, params} = this.args
    const parameters = asObject(params === '-' ? await readTextInput(this.signal) : params)
    const {token} = this.settings(daemonSettings)
    const {DaemonClient} = await import('../../src/daemon/index.js')
    const client = await DaemonClient.connect(await this.#address(), {
      token,
      timeoutMs: this.flags.timeout * 1000,
      signal: this.signal,
    })
    try {
      await this.output.line((await client.call<object>(method, parameters)) ?? null)
      if (this.flags.stream || method === subscribing) await this.#follow(client)
    } finally {
      client.close()
    }
  }

  /** Prints what the daemon sends until the command is stopped. @throws if the daemon closes the connection */
  async #follow(client: DaemonClient): Promise<void> {
    for await (const {params} of client.notifications()) await this.output.line(params)
    if (!this.signal.aborted && client.fault !== undefined) throw client.fault
  }

  /** @throws daemon_not_running, daemon_silent, daemon_address_invalid */
  async #address(): Promise<string> {
    const {formatAddress, parsePeer, requireDaemon} = await import('../../src/daemon/index.js')
    const peer = parsePeer(this.settings(daemonSettings).socket)
    if (peer !== undefined) return formatAddress(peer)
    const {addr, pid, ending} = requireDaemon(this.workspace.root)
    if (addr === null) throw new SvcError('daemon_silent', {pid, isEnding: ending === true})
    return addr
  }
}

/** @throws usage */
function asObject(text: string): object {
  try {
    const value = parseExactJson(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch (error) {
    throw new SvcError(
      'usage',
      {reason: `The parameters are not valid JSON: ${(error as Error).message}.`},
      {cause: error},
    )
  }
  throw new SvcError('usage', {reason: 'The parameters must be a JSON object.'})
}
