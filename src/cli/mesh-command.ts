import {Args, type Command, Flags} from '@oclif/core'
import {meshNodeSettings, meshSettings, orchestratorDelegationSettings, type SettingSources} from '../config/index.js'
import {SvcError} from '../errors/index.js'
import type {CallOptions, DeadOutcome, EventPlace, MeshClient} from '../mesh/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import {SvcCommand} from './command.js'
import {asMessage, asNode} from './mesh-input.js'
import {openWorkspace} from './open-workspace.js'
import {settingFlags} from './setting-flags.js'

/** `--control-url` */
export const controlUrlFlag = settingFlags(meshSettings, 'controlUrl')

/** `--node` */
export const nodeFlag = settingFlags(meshNodeSettings, 'nodeId')

/** `--state on|off` */
export const stateFlag = Flags.option({
  options: ['on', 'off'] as const,
  required: true,
  description: 'Whether it shall hold.',
})

/** `--max` and `--before`, of a list by numbers. @param row what has a number: `MESSAGE` */
export const pageFlags = (row: string, {usual, most}: {usual: number; most: number}) => ({
  max: Flags.integer({description: 'Length of the list.', default: usual, min: 1, max: most, helpValue: 'N'}),
  before: Flags.integer({description: 'Only rows with a smaller number.', min: 1, helpValue: row}),
})

/** One message or more. */
export const deadMessagesArg = {
  message: Args.string({description: 'Numbers of the messages.', required: true, multiple: true}),
}

/** A command that asks the control plane of a mesh. */
export abstract class MeshCommand<T extends typeof Command = typeof Command> extends SvcCommand<T> {
  readonly #clients: MeshClient[] = []
  #orchestrator: Orchestrator | undefined

  protected override async init(): Promise<void> {
    await super.init()
    const {node} = this.flags as {node?: unknown}
    if (typeof node === 'string') await asNode('--node')(node)
  }

  /**
   * A client of the control plane that is configured, with the tokens of the settings, until the command ends.
   * @param node whose tokens it makes, where it makes any
   * @throws mesh_address_missing
   */
  protected async client(node?: string): Promise<MeshClient> {
    const {controlUrl} = this.settings(meshSettings)
    // A value of theirs that does not count is told; the client takes what is left.
    this.settings(meshNodeSettings)
    this.settings(orchestratorDelegationSettings)
    if (controlUrl === undefined) throw new SvcError('mesh_address_missing', {})
    const [{configureLog}, {configuredClient}] = await Promise.all([
      import('../log/index.js'),
      import('../mesh/index.js'),
    ])
    configureLog(this.logOptions())
    const client = configuredClient(this.settingSources(), controlUrl, node)
    this.#clients.push(client)
    return client
  }

  /**
   * The node that this machine is, or the one that is named.
   * @throws usage where it has not been one yet
   */
  protected async node(): Promise<string> {
    const {knownNodeId} = await import('../mesh/index.js')
    const id = await knownNodeId(this.settingSources(meshNodeSettings))
    if (id !== undefined) return id
    throw new SvcError('usage', {
      reason: 'This machine has joined no mesh yet; join one with svc mesh join, or name a node with --node.',
    })
  }

  /** Prints a page of a list, and how to get the next one. */
  protected async printPage(page: {next_cursor?: string}, text: string): Promise<void> {
    await this.output.result(page, () => text)
    if (page.next_cursor !== undefined && !this.output.json)
      this.output.notice(`There are more: --before ${page.next_cursor}`)
  }

  /** The store of the workspace, where events are written down; open until the command ends. */
  protected async eventPlace(sources: SettingSources): Promise<EventPlace> {
    const {orchestrator} = await openWorkspace(this.workspace.root, sources)
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

/** A command that retries or drops the dead messages that its arguments name. */
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
