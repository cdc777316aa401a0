import {join} from 'node:path'
import {Flags} from '@oclif/core'
import {DbCommand, programArg, writeOutputFile} from '../../src/cli/index.js'
import type {DbFilesV1} from '../../src/contracts/index.js'

export default class DbClient extends DbCommand<typeof DbClient> {
  static override summary = 'Write a TypeScript client for the endpoints of a program.'
  static override description =
    'types.ts and client.ts: one typed function per endpoint, on top of fetch and nothing else.'
  static override examples = ['<%= config.bin %> <%= command.id %> examples/todo.svc -o web/src/api']
  static override args = {file: programArg}
  static override flags = {
    output: Flags.string({char: 'o', description: 'Folder to write into.', required: true, helpValue: 'DIR'}),
    zod: Flags.boolean({description: 'Let the client check what it gets, by Zod schemas.'}),
  }

  async run(): Promise<void> {
    const {clientFile, schemasFile, typesFile} = await import('../../src/lang/index.js')
    const {program} = await this.readProgram(this.args.file)
    const {zod = false, output} = this.flags
    const files: Readonly<Record<string, string>> = {
      'types.ts': typesFile(program),
      'client.ts': clientFile(program, {zod}),
      ...(zod ? {'schemas.ts': schemasFile(program)} : {}),
    }
    for (const [name, text] of Object.entries(files)) await writeOutputFile(join(output, name), text)
    const result: DbFilesV1 = {folder: output, files: Object.keys(files)}
    await this.output.result(result, () =>
      Object.keys(files)
        .map((name) => `${join(output, name)}\n`)
        .join(''),
    )
  }
}
