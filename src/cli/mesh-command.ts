import {Args, type Command, Flags} from '@oclif/core'
import {meshNodeSettings, meshSettings, orchestratorDelegationSettings, type SettingSources} from '../config/index.js'
import {SvcError} from '../errors/index.js'
import type {CallOptions, DeadOutcome, MeshClient} from '../mesh/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {MetricPlace} from '../telemetry/index.js'
import {SvcCommand} from './command.js'
import {asMessage, asNode} from './mesh-input.js'
import {openStore} from './open-workspace.js'
import {settingFlags} from './setting-flags.js'

/** Time for retries while nothing accepts connections, ms: a user waits for the result, and a restart takes longer. */
const connectRetryMs = 300

/** `--control-url` */
export const controlUrlFlag = settingFlags(meshSettings, 'controlUrl')

/** `--node` */
export const nodeFlag = settingFlags(meshNodeSettings, 'nodeId')

/** `--state on|off` */
export const stateFlag = Flags.option({
  options: ['on', 'off'] as const,
  required: true,
  description: 'on to set the state, off to clear it.',
})

/** `--max` and `--before`, for lists that are ordered by id. @param row placeholder of an id: `MESSAGE` */
export const pageFlags = (row: string, {defaultMax, limit}: {defaultMax: number; limit: number}) => ({
  max: Flags.integer({
    description: 'Maximum number of entries.',
    default: defaultMax,
    min: 1,
    max: limit,
    helpValue: 'N',
  }),
  before: Flags.integer({description: 'Only entries with a smaller id, to get the next page.', min: 1, helpValue: row}),
})

export const deadMessagesArg = {
  message: Args.string({description: 'Message ids.', required: true, multiple: true}),
}

/** Base of commands that call the control plane of a mesh. */
export abstract class MeshCommand<T extends typeof Command = typeof Command> extends SvcCommand<T> {
  readonly #clients: MeshClient[] = []
  #orchestrator: Orchestrator | undefined

  protected override async init(): Promise<void> {
    await super.init()
    const {node} = this.flags as {node?: unknown}
    if (typeof node === 'string') await asNode('--node')(node)
  }

  /**
   * Creates a client of the configured control plane with the configured tokens. It is closed when the command ends.
   * @param node for which the client creates JWTs, if a key is configured
   * @throws mesh_address_missing
   */
  protected async client(node?: string): Promise<MeshClient> {
    const {controlUrl} = this.settings(meshSettings)
    // Resolved only for the warnings about invalid values, which the client ignores.
    this.settings(meshNodeSettings)
    this.settings(orchestratorDelegationSettings)
    if (controlUrl === undefined) throw new SvcError('mesh_address_missing', {})
    const [{configureLog}, {configuredClient}] = await Promise.all([
      import('../log/index.js'),
      import('../mesh/index.js'),
    ])
    configureLog(this.logOptions())
    const client = configuredClient(this.settingSources(), controlUrl, node, {connectRetryMs})
    this.#clients.push(client)
    return client
  }

  /**
   * The id of this node, or of the node of `--node`.
   * @throws usage if this machine has no node id yet
   */
  protected async node(): Promise<string> {
    const {knownNodeId} = await import('../mesh/index.js')
    const id = await knownNodeId(this.settingSources(meshNodeSettings))
    if (id !== undefined) return id
    throw new SvcError('usage', {
      reason: 'This machine has not joined a mesh. Join one with `svc mesh join`, or use --node.',
    })
  }

  /** Prints a page of a list, and the flag for the next page. */
  protected async printPage(page: {next_cursor?: string}, text: string): Promise<void> {
    await this.output.result(page, () => text)
    if (page.next_cursor !== undefined && !this.output.json)
      this.output.notice(`Next page: --before ${page.next_cursor}`)
  }

  /** Opens the workspace store, to which events are written. It is closed when the command ends. */
  protected async eventPlace(sources: SettingSources): Promise<MetricPlace> {
    const orchestrator = await openStore(this.workspace.root, sources)
    this.#orchestrator = orchestrator
    for (const notice of orchestrator.notices) this.output.notice(notice)
    return orchestrator
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    this.#orchestrator?.close()
    await Promise.all(this.#clients.map((client) => client.close()))
    await super.finally(error)
  }
}

/** Base of commands that retry or drop dead messages. */
export abstract class DeadMessagesCommand<T extends typeof Command = typeof Command> extends MeshCommand<T> {
  protected async settle(
    state: string,
    act: (client: MeshClient, messages: number[], options: CallOptions) => Promise<DeadOutcome>,
  ): Promise<void> {
    const messages = await Promise.all(this.argumentList.map(asMessage('MESSAGE')))
    const outcome = await act(await this.client(), messages, {signal: this.signal})
    const {message_ids: settled, not_found: missing} = outcome
    await this.output.result(outcome, () =>
      [
        ...settled.map((id) => `message ${id} is ${state}\n`),
        ...missing.map((id) => `message ${id} was not found\n`),
      ].join(''),
    )
    if (missing.length > 0) process.exitCode = 3
  }
}
