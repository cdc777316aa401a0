import {Config, Errors, run, settings} from '@oclif/core'
import {asCliError, asText, Exit, SvcError} from '../errors/index.js'
import {packageRoot} from '../files/index.js'
import {jsonRequested} from './argv.js'
import {commandLine, unknownCommand} from './command-line.js'
import {fromOclif} from './oclif-errors.js'
import {StdoutClosed, silenceStreamErrors} from './output.js'

/** Runs one command line and sets the exit status. Whatever goes wrong leaves through here. */
export async function main(typed: readonly string[]): Promise<void> {
  const argv = commandLine(typed)
  settings.enableAutoTranspile = false
  silenceStreamErrors()
  try {
    // No user can install plugins; looking for theirs would warn of a home folder that cannot be read.
    const config = await Config.load({root: packageRoot, userPlugins: false})
    // What oclif prints as the version begins with the name of the package, which is not that of the executable.
    config.pjson.name = config.bin
    const unknown = unknownCommand(config, argv)
    if (unknown !== undefined) throw unknown
    await run([...argv], config)
    await printed()
  } catch (thrown) {
    process.exitCode = report(thrown, argv)
  }
}

/** Waits until what was printed has gone out; a reader that has gone itself is not waited for. */
const printed = (): Promise<void> => new Promise((resolve) => process.stdout.write('', () => resolve()))

function report(thrown: unknown, argv: readonly string[]): number {
  if (thrown instanceof StdoutClosed) return Exit.ok
  if (thrown instanceof Errors.ExitError) return thrown.oclif.exit ?? Exit.ok
  const error = fromOclif(thrown) ?? SvcError.from(thrown)
  if (jsonRequested(argv) && process.stdout.errored === null)
    process.stdout.write(`${JSON.stringify(asCliError(error))}\n`)
  else process.stderr.write(asText(error))
  if (debugRequested(argv)) process.stderr.write(`${trace(error)}\n`)
  return error.exit
}

const debugRequested = (argv: readonly string[]) =>
  argv.includes('--debug') || /(^|,)(svc|\*)($|,|:)/.test(process.env.DEBUG ?? '')

/** The stack of an error and of what caused it. */
const trace = (error: Error): string =>
  error.cause instanceof Error ? `${error.stack}\nCaused by ${trace(error.cause)}` : (error.stack ?? '')
