import {type Command, Flags} from '@oclif/core'
import {meshNodeSettings, meshSettings, orchestratorDelegationSettings, type SettingSources} from '../config/index.js'
import {SvcError} from '../errors/index.js'
import type {EventPlace, MeshClient} from '../mesh/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import {SvcCommand} from './command.js'
import {asNode} from './mesh-input.js'
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
