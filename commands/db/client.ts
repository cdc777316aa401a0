import {Flags} from '@oclif/core'
import {DbCommand, overwriteFlag, programArg, programFlag} from '../../src/cli/index.js'

export default class DbClient extends DbCommand<typeof DbClient> {
  static override summary = 'Write a TypeScript client for the endpoints of a program.'
  static override description =
    'types.ts and client.ts: one typed function per endpoint, on top of fetch and nothing else.'
  static override examples = ['<%= config.bin %> <%= command.id %> examples/todo.svc -o web/src/api']
  static override args = {file: programArg}
  static override flags = {
    ...programFlag,
    output: Flags.string({char: 'o', description: 'Folder to write into.', required: true, helpValue: 'DIR'}),
    zod: Flags.boolean({description: 'Let the client check what it gets, by Zod schemas.'}),
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
