import {Flags} from '@oclif/core'
import {DbCommand, overwriteFlag, programArg, programFlag} from '../../src/cli/index.js'
import {appSettings} from '../../src/config/index.js'
import type {HostProbe} from '../../src/mesh/index.js'

export default class DbBuild extends DbCommand<typeof DbBuild> {
  static override summary = 'Generate all build artifacts of a program.'
  static override description =
    `Writes the tables to schema.sql and the SQL of each operation to plans.json. Writes openapi.json, a typed client to
types.ts and client.ts, and the functions that do not use the database to functions.ts. Describes the program for other
tools in runtime-projection.json and app-contract.json. With SVC_RUNTIME_PROJECTION_INCLUDE_HOST_PROBE=1,
runtime-projection.json also has the capabilities of this machine.`
  static override examples = ['<%= config.bin %> <%= command.id %> examples/todo.svc -o dist/todo']
  static override args = {file: programArg}
  static override flags = {
    ...programFlag,
    output: Flags.string({char: 'o', description: 'Output directory.', default: 'dist', helpValue: 'DIR'}),
    zod: Flags.boolean({description: 'Also write schemas.ts and validate responses in the client with Zod.'}),
    overwrite: overwriteFlag,
  }

  async run(): Promise<void> {
    const lang = await import('../../src/lang/index.js')
    const {source, program} = await this.readProgram()
    await this.requireEnforced(source, program)
    const {zod = false, output} = this.flags
    const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
    const title = source.path.replace(/^.*\//, '').replace(/\.svc$/, '')
    const files: Readonly<Record<string, string>> = {
      'schema.sql': lang
        .ddl(program)
        .map((sql) => `${sql}\n`)
        .join(''),
      'plans.json': json(lang.explain(program, {query: undefined, all: true}).map(({plan}) => plan)),
      'runtime-projection.json': `${lang.canonicalJson(lang.runtimeProjection(program, await this.#hostProbe()))}\n`,
      'app-contract.json': json(lang.appContract(program)),
      'openapi.json': json(lang.openapi(program, {title, version: '1'})),
      'types.ts': lang.typesFile(program),
      'client.ts': lang.clientFile(program, {zod}),
      'functions.ts': lang.functionsFile(program),
      ...(zod ? {'schemas.ts': lang.schemasFile(program)} : {}),
    }
    await this.writeFiles(output, files, this.flags.overwrite)
  }

  /** The capabilities of this machine, if the projection must include them. Otherwise, each machine builds the same files. */
  async #hostProbe(): Promise<HostProbe | undefined> {
    if (!this.settings(appSettings).includeHostProbe) return undefined
    const {probeGpus, probeHost, readHost} = await import('../../src/mesh/index.js')
    const sources = this.settingSources()
    await probeGpus(sources)
    return probeHost(sources.env, readHost())
  }
}
