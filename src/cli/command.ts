import {resolve} from 'node:path'
import {chdir, cwd} from 'node:process'
import {Command, Flags, type Interfaces} from '@oclif/core'
import {
  type ConfigFile,
  checkValues,
  discoverWorkspace,
  type EnvFile,
  loggingSettings,
  networkSettings,
  readConfigFile,
  readMeshEnv,
  readSpeechConfig,
  readUserConfig,
  resolveSettings,
  type SettingRows,
  type SettingSources,
  type SettingTable,
  type SettingValues,
  type SettingWarning,
  settingTables,
  unknownKeys,
  type Workspace,
} from '../config/index.js'
import {Exit, SvcError} from '../errors/index.js'
import {aborted} from '../process/index.js'
import {withBooleanValues} from './boolean-values.js'
import {Interruption} from './interruption.js'
import {Output, type WhenUnread} from './output.js'
import type {TableView} from './table.js'

type Parsed<T extends typeof Command> = {
  flags: Interfaces.InferredFlags<(typeof SvcCommand)['baseFlags'] & T['flags']>
  args: Interfaces.InferredArgs<T['args']>
}

/**
 * Base of all commands: parses, calls one function of the core, prints. Before `run`, it parses the flags, finds the
 * workspace and reads its `Svc.toml`; an invalid one stops every command. It also reads the files with the mesh secrets
 * and the file named by `SVC_SPEECH_CONFIG`; an invalid one is ignored with a warning.
 */
export abstract class SvcCommand<T extends typeof Command = typeof Command> extends Command {
  static override baseFlags = {
    json: Flags.boolean({description: 'Print the result as JSON.', helpGroup: 'GLOBAL'}),
    quiet: Flags.boolean({char: 'q', description: 'Suppress notices and progress.', helpGroup: 'GLOBAL'}),
    debug: Flags.boolean({description: 'Print stack traces of errors.', helpGroup: 'GLOBAL'}),
    cwd: Flags.string({char: 'C', description: 'Working directory.', helpValue: 'DIR', helpGroup: 'GLOBAL'}),
  }

  protected flags!: Parsed<T>['flags']
  protected args!: Parsed<T>['args']
  /** All arguments in order, for commands that accept any number of them. */
  protected argumentList!: string[]
  protected output!: Output
  protected workspace!: Workspace
  protected configFile: ConfigFile | undefined
  protected userConfig: ConfigFile | undefined
  protected envFile: EnvFile | undefined
  protected speechConfig: ConfigFile | undefined
  /** Warnings about the configuration files and about the variables of all settings resolved so far. */
  protected readonly warnings: SettingWarning[] = []
  readonly #interruption = new Interruption(() => this.output.unread)
  readonly #settings = new Map<SettingTable, object>()

  /** What the command does when its output is no longer read; commands that do work override it. */
  protected get whenUnread(): WhenUnread {
    return 'ends'
  }

  /** Handles SIGHUP, instead of ending the command as SIGTERM does. */
  protected set onHangup(handler: () => void) {
    this.#interruption.onHangup = handler
  }

  /** Passes signals on instead of ending the command, until the returned function is called. */
  protected forwardSignals(send: (signal: NodeJS.Signals) => void): () => void {
    this.#interruption.forward = send
    return () => {
      this.#interruption.forward = undefined
    }
  }

  /** How the command prints its tables: the width of the terminal, and the flags of `tableFlags` if it has them. */
  protected get view(): TableView {
    const {columns: width} = process.stdout
    // Other commands have a flag --output, too: that of a file.
    if (!('columns' in (this.ctor.flags ?? {}))) return {width}
    const {output, columns} = this.flags as Pick<TableView, 'output' | 'columns'>
    return {width, output, columns}
  }

  /** Aborts on SIGINT, SIGTERM, SIGHUP, or when the reader of standard output closes it, see `whenUnread`. */
  protected get signal(): AbortSignal {
    return this.#interruption.signal
  }

  /** Resolves when the command has to stop: the end of a server. */
  protected untilStopped(): Promise<void> {
    return aborted(this.signal)
  }

  protected override async init(): Promise<void> {
    await super.init()
    this.argv = withBooleanValues(this.argv, {...SvcCommand.baseFlags, ...this.ctor.flags})
    const {flags, args, argv} = await this.parse(this.#input())
    this.flags = flags as Parsed<T>['flags']
    this.args = args as Parsed<T>['args']
    this.argumentList = argv as string[]
    const {json, quiet, cwd: folder} = this.flags as {json: boolean; quiet: boolean; cwd?: string}
    this.output = new Output({json, quiet, whenUnread: this.whenUnread})
    if (folder !== undefined) enter(folder)
    this.workspace = discoverWorkspace(cwd())
    const {configPath} = this.workspace
    this.configFile = configPath === undefined ? undefined : this.#checked(await readConfigFile(configPath))
    const userConfig = await readUserConfig(process.env)
    this.userConfig = userConfig && this.#checked(userConfig)
    this.envFile = readMeshEnv(this.workspace.root, process.env, settingTables, this.configFile)
    this.report(this.envFile.warnings)
    const speechConfig = process.env.SVC_SPEECH_CONFIG?.trim()
    if (speechConfig) await this.#readSpeechConfig(speechConfig)
    const {tlsCaFile} = this.settings(networkSettings)
    if (tlsCaFile !== undefined) await (await import('../net/index.js')).trustAuthorities(tlsCaFile)
  }

  /** Input of the oclif parser. `ignoreStdin`: standard input is read only for `-`, never for a missing argument. */
  #input(): Interfaces.Input<
    Parsed<T>['flags'],
    Interfaces.OutputFlags<typeof SvcCommand.baseFlags>,
    Parsed<T>['args']
  > {
    const args = Object.entries(this.ctor.args ?? {}).map(([name, arg]) => [name, {...arg, ignoreStdin: true}])
    return {...this.ctor, baseFlags: SvcCommand.baseFlags, args: Object.fromEntries(args)} as never
  }

  /** Reports the warnings about a settings file, and returns it. @throws config_type */
  #checked(file: ConfigFile): ConfigFile {
    this.report(file.warnings)
    this.report(unknownKeys(settingTables, file))
    checkValues(settingTables, file)
    return file
  }

  async #readSpeechConfig(path: string): Promise<void> {
    this.speechConfig = await readSpeechConfig(resolve(path), settingTables)
    this.report(this.speechConfig.warnings)
  }

  /** The values of a table from flags, environment and files, resolved once so that each warning is printed once. */
  protected settings<R extends SettingRows>(table: SettingTable<R>): SettingValues<R> {
    const known = this.#settings.get(table)
    if (known !== undefined) return known as SettingValues<R>
    const {values, warnings} = resolveSettings(table, this.settingSources(table))
    this.#settings.set(table, values)
    this.report(warnings)
    return values
  }

  /** Those values of a table that a flag, the environment or a file has, without defaults. */
  protected chosenSettings<R extends SettingRows>(table: SettingTable<R>): Partial<SettingValues<R>> {
    const {values, settings} = resolveSettings(table, this.settingSources(table))
    const names = Object.keys(table.rows).filter((_, i) => settings[i]?.origin.source !== 'default')
    return Object.fromEntries(names.map((name) => [name, values[name]])) as Partial<SettingValues<R>>
  }

  protected settingSources(table?: SettingTable): SettingSources {
    const parsed = this.flags as Readonly<Record<string, unknown>>
    const flags = Object.entries(table?.rows ?? {}).flatMap(([name, {flag}]) =>
      flag === undefined ? [] : [[name, parsed[flag]]],
    )
    const {envFile, speechConfig, configFile: file, userConfig: userFile} = this
    return {flags: Object.fromEntries(flags), env: process.env, envFile, speechConfig, file, userFile}
  }

  /** Log options for all threads of this process, and the secrets to redact. */
  protected logOptions(): {filter: string; format: 'auto' | 'text' | 'json'; secrets: string[]} {
    const sources = this.settingSources()
    const secrets = settingTables
      // Resolving other tables could throw on a strict variable that this command does not read.
      .filter(({rows}) => Object.values(rows).some(({secret}) => secret))
      .flatMap((table) => resolveSettings(table, sources).settings)
      .filter(({setting, value}) => setting.secret && typeof value === 'string')
      .map(({value}) => value as string)
    return {...this.settings(loggingSettings), secrets}
  }

  /** Warns if a server accepts connections from other machines, which are not encrypted. */
  protected async warnWithoutTls(host: string): Promise<void> {
    const {isLoopback} = await import('../net/index.js')
    if (!isLoopback(host))
      this.output.notice(
        `warning: Connections to ${host} are not encrypted. Put a TLS proxy in front of it, or use an SSH tunnel.`,
      )
  }

  /** Prints each warning once, even if the settings are resolved again. */
  protected report(warnings: readonly SettingWarning[]): void {
    for (const warning of warnings) {
      if (this.warnings.some(({message}) => message === warning.message)) continue
      this.warnings.push(warning)
      this.output.notice(`warning: ${warning.message}`)
    }
  }

  protected override async catch(error: Error): Promise<never> {
    const {aborted, reason} = this.signal
    // An interrupted command may know better than the signal how to continue.
    const isOwn = error instanceof SvcError && (error.exit === Exit.interrupted || error.exit === Exit.terminated)
    throw aborted && !isOwn ? reason : error
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    this.#interruption.dispose()
    await super.finally(error)
  }
}

function enter(folder: string): void {
  try {
    chdir(folder)
  } catch (error) {
    throw new SvcError('directory_not_found', {path: resolve(folder)}, {cause: error})
  }
}
