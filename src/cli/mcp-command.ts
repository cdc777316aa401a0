import {basename, extname} from 'node:path'
import {type Command, Flags} from '@oclif/core'
import {assistantSettings, mcpSettings} from '../config/index.js'
import type {Application, Ports} from '../lang/index.js'
import type {ToolHost, ToolRegistry} from '../mcp/index.js'
import type {OperationBase, Tier} from '../operations/index.js'
import {DbCommand, databaseFlag, notHeard} from './db-command.js'
import {openWorkspace} from './open-workspace.js'
import type {Ears} from './speech-port.js'

/** `--program FILE` and the database of its endpoints. */
export const toolProgramFlags = {
  program: Flags.string({
    description: 'Offer the endpoints of this program of the data language as tools too.',
    helpValue: 'FILE',
  }),
  ...databaseFlag,
}

/** A command on the tools of the workspace. What they work with is opened by the first call that needs it. */
export abstract class McpCommand<T extends typeof Command = typeof Command> extends DbCommand<T> {
  #base: Promise<OperationBase> | undefined
  #ears: Ears | undefined
  #application: Application | undefined

  protected get host(): ToolHost {
    return {version: this.config.version, open: () => this.#open()}
  }

  protected async tiers(): Promise<ReadonlySet<Tier>> {
    const {tiersOf} = await import('../mcp/index.js')
    return tiersOf(this.settings(mcpSettings).tiers)
  }

  /**
   * The tools of the workspace and, where one is named, of a program, whose database is brought to it.
   * @throws program_not_found, program_invalid, migration_blocked, tool_name_taken
   */
  protected async registry(programPath: string | undefined): Promise<ToolRegistry> {
    const {openProgramTools, operationTools, ToolRegistry} = await import('../mcp/index.js')
    const own = operationTools()
    if (programPath === undefined) return new ToolRegistry(own)
    const {program} = await this.readProgram(programPath)
    const path = await this.prepareDatabase(program)
    const {Application} = await import('../lang/index.js')
    this.#application = await Application.open(program, {path, ports: this.ports()})
    const stem = basename(programPath, extname(programPath))
    const taken = new Set(own.map(({name}) => name))
    return new ToolRegistry([
      ...own,
      ...(await openProgramTools({stem, program, application: this.#application, taken})),
    ])
  }

  /** A store that cannot be opened is tried again by the next call. */
  #open(): Promise<OperationBase> {
    this.#base ??= this.#openBase().catch((error: unknown) => {
      this.#base = undefined
      throw error
    })
    return this.#base
  }

  async #openBase(): Promise<OperationBase> {
    const sources = this.settingSources()
    const {modules, orchestrator} = await openWorkspace(this.workspace.root, sources)
    this.report(orchestrator.warnings)
    // Tools read these when they ask a model, and do not report a variable that cannot be read.
    this.settings(assistantSettings)
    for (const notice of orchestrator.notices) this.output.notice(notice)
    return {modules, orchestrator, surface: 'mcp', version: this.config.version, sources, speech: this.#speech()}
  }

  #speech(): Ears {
    this.#ears ??= this.openEars()
    return this.#ears
  }

  /** A program hears with the ears of the tools. */
  protected override ports(): Ports {
    const {signal} = this
    const hooks = {signal, report: () => undefined, notice: (text: string) => this.output.notice(text)}
    return {
      ...super.ports(),
      transcribe: async (path) => {
        try {
          return {ok: (await this.#speech().transcribe({path}, hooks)).text.trim()}
        } catch (error) {
          return notHeard(path, error)
        }
      },
    }
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    await this.#ears?.close()
    this.#application?.close()
    const base = await this.#base?.catch(() => undefined)
    base?.orchestrator.close()
    await super.finally(error)
  }
}
