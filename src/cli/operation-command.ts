import type {Command} from '@oclif/core'
import type {Call} from '../operations/index.js'
import {flagName, memberNames} from './operation-flags.js'
import {OrchCommand} from './orch-command.js'

/**
 * A command that is a face of one operation: its arguments and flags are made of what the operation takes, and all it
 * does itself is to print what comes of it.
 */
export abstract class OperationCommand<T extends typeof Command = typeof Command> extends OrchCommand<T> {
  /** Opens the workspace and does it, with what the command line says. */
  protected async perform<O>(call: Call): Promise<O> {
    const given = await this.#given(call)
    const base = await this.openOperations('cli')
    return call.run(given, {
      ...base,
      signal: this.signal,
      report: () => {},
      notice: (text) => this.output.notice(text),
      ask: undefined,
    }) as Promise<O>
  }

  /** What was given, under the names of the command; texts from standard input where `-` asks for it. */
  async #given(call: Call): Promise<Record<string, unknown>> {
    const {args = [], piped = []} = call.operation.bindings.cli ?? {}
    const said = {args: this.args, flags: this.flags} as Record<'args' | 'flags', Readonly<Record<string, unknown>>>
    const given: Record<string, unknown> = {}
    for (const name of memberNames(call)) {
      const value = args.includes(name) ? said.args[name] : said.flags[flagName(name)]
      given[name] = piped.includes(name) && typeof value === 'string' ? await this.textOf(value) : value
    }
    return given
  }
}
