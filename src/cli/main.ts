import {Config, Errors, run, settings} from '@oclif/core'
import {asCliError, asText, Exit, SvcError} from '../errors/index.js'
import {packageRoot} from '../files/index.js'
import {jsonRequested} from './argv.js'
import {withBooleanValues} from './boolean-values.js'
import {commandLine, exampleIn, unknownCommand, usageIn, withJsonOutput} from './command-line.js'
import {fromOclif, type Usage} from './oclif-errors.js'
import {StdoutClosed, silenceStreamErrors} from './output.js'

/** Reads no theme: the output of svc has no colours that oclif could change. */
class SvcConfig extends Config {
  override async loadTheme(): Promise<undefined> {
    return undefined
  }
}

/** Runs one command line, prints its error and sets the exit status. */
export async function main(typed: readonly string[]): Promise<void> {
  let argv = commandLine(typed)
  let usage: Usage = {}
  settings.enableAutoTranspile = false
  silenceStreamErrors()
  try {
    // svc has no user plugins, and looking for them prints a warning if the home folder is unreadable.
    const config = new SvcConfig({root: packageRoot, userPlugins: false})
    await config.load()
    // oclif starts the version line with the package name, which differs from the name of the executable.
    config.pjson.name = config.bin
    argv = withJsonOutput(config, withBooleanValues(argv, {help: {type: 'boolean'}}))
    usage = {line: usageIn(config, argv), example: exampleIn(config, argv)}
    const unknown = unknownCommand(config, argv)
    if (unknown !== undefined) throw unknown
    await run([...argv], config)
    await flushOutput()
  } catch (thrown) {
    process.exitCode = report(thrown, argv, usage)
  }
}

/** Waits until standard output is flushed, or closed by its reader. */
const flushOutput = (): Promise<void> => new Promise((resolve) => process.stdout.write('', () => resolve()))

function report(thrown: unknown, argv: readonly string[], usage: Usage): number {
  if (thrown instanceof StdoutClosed) return Exit.ok
  if (thrown instanceof Errors.ExitError) return thrown.oclif.exit ?? Exit.ok
  const error = fromOclif(thrown, usage) ?? SvcError.from(thrown)
  if (jsonRequested(argv) && process.stdout.errored === null)
    // Where standard output cannot be written, such as on a full disk, standard error still can.
    process.stdout.write(
      `${JSON.stringify(asCliError(error))}\n`,
      (fault) => fault && process.stderr.write(asText(error)),
    )
  else process.stderr.write(asText(error))
  if (debugRequested(argv)) process.stderr.write(`${trace(error)}\n`)
  return error.exit
}

const debugRequested = (argv: readonly string[]) =>
  argv.includes('--debug') || /(^|,)(svc|\*)($|,|:)/.test(process.env.DEBUG ?? '')

const trace = (error: Error): string =>
  error.cause instanceof Error ? `${error.stack}\nCaused by ${trace(error.cause)}` : (error.stack ?? '')
