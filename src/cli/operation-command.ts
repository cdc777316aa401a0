import type {Command} from '@oclif/core'
import type {Call} from '../operations/index.js'
import {flagName, memberNames} from './operation-flags.js'
import {OrchCommand} from './orch-command.js'

/**
 * Base of commands that are bindings of one operation: their arguments and flags are derived from the input schema of the
 * operation, and they only print its result.
 */
export abstract class OperationCommand<T extends typeof Command = typeof Command> extends OrchCommand<T> {
  /** Opens the workspace and runs the operation with the input of the command line. */
  protected async perform<O>(call: Call): Promise<O> {
    const input = await this.#input(call)
    const base = await this.openOperations('cli')
    return call.run(input, {
      ...base,
      signal: this.signal,
      report: () => {},
      notice: (text) => this.output.notice(text),
      ask: undefined,
    }) as Promise<O>
  }

  /** The input by member name. For `-`, the text is read from standard input. */
  async #input(call: Call): Promise<Record<string, unknown>> {
    const {args = [], piped = []} = call.operation.bindings.cli ?? {}
    const parsed = {args: this.args, flags: this.flags} as Record<'args' | 'flags', Readonly<Record<string, unknown>>>
    const input: Record<string, unknown> = {}
    for (const name of memberNames(call)) {
      const value = args.includes(name) ? parsed.args[name] : parsed.flags[flagName(name)]
      input[name] = piped.includes(name) && typeof value === 'string' ? await this.textOf(value) : value
    }
    return input
  }
}
