import {basename, extname} from 'node:path'
import {type Command, Flags} from '@oclif/core'
import {assistantSettings, mcpSettings} from '../config/index.js'
import type {Application} from '../lang/index.js'
import type {ToolHost, ToolRegistry} from '../mcp/index.js'
import type {OperationBase, Tier} from '../operations/index.js'
import {DbCommand, databaseFlag} from './db-command.js'
import {openWorkspace} from './open-workspace.js'

/** `--program FILE` and the database of its endpoints. */
export const toolProgramFlags = {
  program: Flags.string({
    description: 'Data language program whose endpoints are added as tools.',
    helpValue: 'FILE',
  }),
  ...databaseFlag,
}

/** Base of commands on the MCP tools of the workspace. The store and the speech model are opened on first use. */
export abstract class McpCommand<T extends typeof Command = typeof Command> extends DbCommand<T> {
  #base: Promise<OperationBase> | undefined
  #application: Application | undefined

  protected get host(): ToolHost {
    return {version: this.config.version, open: () => this.#open()}
  }

  protected async tiers(): Promise<ReadonlySet<Tier>> {
    const {tiersOf} = await import('../mcp/index.js')
    return tiersOf(this.settings(mcpSettings).tiers)
  }

  /**
   * The tools of the workspace and of the program, if there is one. Migrates the database of the program.
   * @throws program_not_found, program_invalid, migration_blocked, tool_name_taken
   */
  protected async registry(programPath: string | undefined): Promise<ToolRegistry> {
    const {openProgramTools, operationTools, ToolRegistry} = await import('../mcp/index.js')
    const builtIn = operationTools()
    if (programPath === undefined) return new ToolRegistry(builtIn)
    const {program} = await this.readProgram(programPath)
    const path = await this.prepareDatabase(program)
    const {Application, fitsDatabase} = await import('../lang/index.js')
    this.#application = await Application.open(program, {path, ports: this.ports(), fits: fitsDatabase})
    const stem = basename(programPath, extname(programPath))
    const taken = new Set(builtIn.map(({name}) => name))
    return new ToolRegistry([
      ...builtIn,
      ...(await openProgramTools({stem, program, application: this.#application, taken})),
    ])
  }

  /** Opens the workspace once. After an error, the next call tries again. */
  #open(): Promise<OperationBase> {
    this.#base ??= this.#openBase().catch((error: unknown) => {
      this.#base = undefined
      throw error
    })
    return this.#base
  }

  async #openBase(): Promise<OperationBase> {
    const sources = this.settingSources()
    const {callFragment} = await import('../mcp/index.js')
    const {modules, orchestrator} = await openWorkspace(this.workspace.root, sources, [callFragment])
    this.report(orchestrator.warnings)
    // Tools resolve these settings later without reporting warnings, so that is done here.
    this.settings(assistantSettings)
    for (const notice of orchestrator.notices) this.output.notice(notice)
    return {modules, orchestrator, surface: 'mcp', version: this.config.version, sources, speech: this.speechPort}
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    this.#application?.close()
    const base = await this.#base?.catch(() => undefined)
    base?.orchestrator.close()
    await super.finally(error)
  }
}
