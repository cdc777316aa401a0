import {SvcError} from '../errors/index.js'
import {Application, callByName, checkProgram} from '../lang/index.js'

export {type AppServer, type AppServerOptions, startAppServer} from '../app-server/index.js'
export {SvcError} from '../errors/index.js'
export {
  checkProgram,
  clientFile,
  type Diagnostic,
  ddl,
  formatSource,
  migrate,
  openapi,
  type Program,
  renderDiagnostics,
} from '../lang/index.js'
/** An open program with its database. Close it when done. */
export interface OpenProgram {
  /**
   * Calls an endpoint with its arguments by name.
   * @returns the reply as JSON
   * @throws SvcError endpoint_unknown, argument_invalid, endpoint_failed, endpoint_refused
   */
  call(name: string, args?: Readonly<Record<string, unknown>>): Promise<unknown>
  close(): void
}

/**
 * Checks a program and opens it with a database that matches it (see `migrate`). For `:memory:`, the tables are
 * created.
 * @throws SvcError program_invalid if the program has errors; `renderDiagnostics` formats them
 *
 * @example
 * const notes = await openProgram(source)
 * await notes.call('add', {text: 'Buy tea'})
 * console.log(await notes.call('all'))
 * notes.close()
 */
export async function openProgram(source: string, path = ':memory:'): Promise<OpenProgram> {
  const program = checkProgram(source)
  const errors = program.diagnostics.filter(({severity}) => severity === 'error').length
  if (errors > 0) throw new SvcError('program_invalid', {path: 'The program', errors})
  const application = await Application.open(program, {path})
  return {
    call: (name, args = {}) =>
      callByName(
        application,
        name,
        Object.entries(args).map(([key, value]) => `${key}=${JSON.stringify(value)}`),
      ),
    close: () => application.close(),
  }
}
