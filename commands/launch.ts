import {basename, join} from 'node:path'
import {Args, Flags} from '@oclif/core'
import {
  chooseLanguageModel,
  formatTable,
  inGroup,
  SvcCommand,
  serverFlag,
  settingFlags,
  withProgress,
} from '../src/cli/index.js'
import {engineSettings, hubSettings} from '../src/config/index.js'
import type {LaunchProgramsV1, LaunchV1} from '../src/contracts/index.js'
import {nearest, SvcError} from '../src/errors/index.js'
import type {InferenceEndpoint} from '../src/inference-client/index.js'
import type {KnownProgram, OwnServer, ServedTarget} from '../src/launch/index.js'

/** A server, its model and what the program should know about it. */
interface Found extends ServedTarget {
  own?: OwnServer
  apiKey: string | undefined
}

export default class Launch extends SvcCommand<typeof Launch> {
  static override summary = 'Start a coding agent that uses a local model.'
  static override description =
    `Starts a program with the variables and arguments that make it use a server of svc. The server is the one that other commands use,
if it is running and has the model. Otherwise, one is started for the program on a free port of this machine, and ends with it.

No file of the program is changed: what it reads from its own files still applies, except for the server and the model. Arguments
after -- are those of the program, and its exit status is that of the command. Without a program, lists the known ones.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> claude --model ./my-model --num-ctx 65536',
    '<%= config.bin %> <%= command.id %> codex -- exec "Explain this directory"',
    '<%= config.bin %> <%= command.id %> opencode --print',
  ]
  static override strict = false
  static override args = {
    program: Args.string({description: 'Program: claude, codex, opencode or continue.'}),
  }
  static override flags = {
    print: Flags.boolean({description: 'Print the settings as lines of a shell, and start nothing.'}),
    ...inGroup('network', {server: serverFlag}),
    ...settingFlags(engineSettings, 'model', 'numCtx'),
  }

  async run(): Promise<void> {
    const {knownPrograms, programNamed} = await import('../src/launch/index.js')
    const [id, ...args] = this.argumentList
    if (id === undefined) return this.#list(knownPrograms)
    const ids = knownPrograms.map((program) => program.id)
    const program = programNamed(id)
    if (program === undefined)
      throw new SvcError('launch_program_unknown', {program: id, known: ids.join(', '), suggestion: nearest(id, ids)})
    if (this.flags.print) return this.#print(program, args)
    process.exitCode = await this.#launch(program, args)
  }

  #list(programs: readonly KnownProgram[]): Promise<void> {
    const result: LaunchProgramsV1 = {
      programs: programs.map(({id, title, executable, version, contextLength, install}) => ({
        program: id,
        title,
        executable,
        version,
        context_length: contextLength,
        install,
      })),
    }
    return this.output.result(result, () =>
      formatTable(
        ['PROGRAM', 'VERSION', 'CONTEXT', 'INSTALL'],
        programs.map(({id, version, contextLength, install}) => [id, version, String(contextLength), install]),
        this.view,
      ),
    )
  }

  /** @returns the exit status of the program */
  async #launch(program: KnownProgram, args: readonly string[]): Promise<number> {
    if (this.flags.json) throw new SvcError('usage', {reason: '--json requires --print: the program has the output.'})
    const {locateProgram, placeholderKey, runProgram} = await import('../src/launch/index.js')
    const path = await locateProgram(program, process.env)
    const {own, apiKey, target, warnings} = (await this.#running(program)) ?? (await this.#start(program))
    try {
      for (const warning of warnings) this.output.notice(`warning: ${warning}`)
      return await runProgram({
        path,
        settings: program.settings(target),
        args,
        env: process.env,
        apiKey: apiKey ?? placeholderKey,
        forwardSignals: (send) => this.forwardSignals(send),
      })
    } finally {
      const log = await own?.stop()
      if (log !== undefined) this.output.notice(`warning: The server ended before the program.\n${log}`.trimEnd())
    }
  }

  async #print(program: KnownProgram, args: readonly string[]): Promise<void> {
    const {settingsScript} = await import('../src/launch/index.js')
    const running = await this.#running(program)
    const {target, warnings, apiKey} = running ?? (await this.#expected())
    for (const warning of warnings) this.output.notice(`warning: ${warning}`)
    const settings = program.settings(target)
    const {unset, env, keys, file} = settings
    const result: LaunchV1 = {
      program: program.id,
      version: program.version,
      server: target.baseUrl,
      is_running: running !== undefined,
      model: target.model,
      context_length: target.contextLength ?? null,
      warnings: [...warnings],
      unset: [...unset],
      env: {...env},
      key_variables: [...keys],
      command: [program.executable, ...settings.args, ...(file === undefined ? [] : [file.name]), ...args],
      file: file ?? null,
    }
    await this.output.result(result, () => settingsScript(result.command, settings, apiKey !== undefined))
  }

  /** The server that other commands use, if it has the model. @throws launch_server_unusable if a flag demands it */
  async #running(program: KnownProgram): Promise<Found | undefined> {
    const {findModel, targetOf} = await import('../src/launch/index.js')
    const endpoint = await this.#endpoint()
    const {server, model: wanted} = this.flags as {server?: string; model?: string}
    const model = await findModel(endpoint, wanted, this.signal)
    if (model !== undefined)
      return {...(await targetOf(program, endpoint, model, this.signal)), apiKey: endpoint.apiKey}
    if (server !== undefined) throw new SvcError('launch_server_unusable', {server: endpoint.baseUrl, model: wanted})
    return undefined
  }

  async #start(program: KnownProgram): Promise<Found> {
    const {startOwnServer, targetOf} = await import('../src/launch/index.js')
    const {model, 'num-ctx': context} = this.flags as {model?: string; 'num-ctx'?: number}
    const own = await withProgress('Loading the model', !this.flags.quiet, () =>
      startOwnServer({
        binary: join(this.config.root, 'bin', 'svc.js'),
        args: [
          ...(model === undefined ? [] : ['--model', model]),
          ...(context === undefined ? [] : ['--num-ctx', String(context)]),
        ],
        env: process.env,
        onNotice: (text) => this.output.notice(text),
        signal: this.signal,
      }),
    )
    const {baseUrl, apiKey} = own
    const endpoint = {...(await this.#endpoint()), profile: 'desktop_ollama', baseUrl, apiKey} as const
    try {
      return {...(await targetOf(program, endpoint, own.model, this.signal)), own, apiKey}
    } catch (error) {
      await own.stop()
      throw error
    }
  }

  /** What `svc serve` would be, with a notice that it does not run. */
  async #expected(): Promise<Found> {
    const {hubCache} = this.settings(hubSettings)
    const {model} = this.settings(engineSettings)
    const notice = (text: string) => this.output.notice(text)
    const path = await chooseLanguageModel(model, this.workspace.root, hubCache, notice)
    notice('notice: No running server has the model. Start one before you use these settings.')
    const {baseUrl, apiKey} = await this.#endpoint()
    return {target: {baseUrl, model: basename(path), contextLength: undefined}, warnings: [], apiKey}
  }

  async #endpoint(): Promise<InferenceEndpoint> {
    const {resolveEndpoint} = await import('../src/inference-client/index.js')
    const {server} = this.flags
    const {endpoint, warnings} = resolveEndpoint(this.settingSources(), server === undefined ? {} : {url: server})
    this.report(warnings)
    return endpoint
  }
}
