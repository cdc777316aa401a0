import {Flags} from '@oclif/core'
import {DbCommand, overwriteFlag, programArg, programFlag} from '../../src/cli/index.js'

export default class DbClient extends DbCommand<typeof DbClient> {
  static override summary = 'Generate a TypeScript client for a program.'
  static override description =
    `Writes types.ts and client.ts, with one typed function per endpoint. The client uses fetch and has no dependencies.`
  static override examples = ['<%= config.bin %> <%= command.id %> examples/todo.svc -o web/src/api']
  static override args = {file: programArg}
  static override flags = {
    ...programFlag,
    output: Flags.string({char: 'o', description: 'Output directory.', required: true, helpValue: 'DIR'}),
    zod: Flags.boolean({description: 'Also write schemas.ts and validate responses in the client with Zod.'}),
    overwrite: overwriteFlag,
  }

  async run(): Promise<void> {
    const {clientFile, schemasFile, typesFile} = await import('../../src/lang/index.js')
    const {program} = await this.readProgram()
    const {zod = false, output} = this.flags
    const files: Readonly<Record<string, string>> = {
      'types.ts': typesFile(program),
      'client.ts': clientFile(program, {zod}),
      ...(zod ? {'schemas.ts': schemasFile(program)} : {}),
    }
    await this.writeFiles(output, files, this.flags.overwrite)
  }
}
