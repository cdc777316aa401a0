import {Flags} from '@oclif/core'
import {DbCommand, programFlag, programsArg} from '../../src/cli/index.js'
import type {DbFmtV1} from '../../src/contracts/index.js'
import {writeFileAtomic} from '../../src/files/index.js'

export default class DbFmt extends DbCommand<typeof DbFmt> {
  static override summary = 'Format programs.'
  static override description =
    `Changes only spacing and indentation; line breaks and comments are kept. Prints the changed files. A program with syntax
errors is not changed, and its errors are printed. With -, formats standard input to standard output.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> src/*.svc',
    '<%= config.bin %> <%= command.id %> --check',
  ]
  static override args = {files: programsArg}
  static override flags = {
    ...programFlag,
    check: Flags.boolean({description: 'Do not change files; exit with status 1 if any file is not formatted.'}),
  }

  async run(): Promise<void> {
    const {checkProgram, formatSource} = await import('../../src/lang/index.js')
    const result: DbFmtV1 = []
    for (const path of this.programPaths) {
      const source = await this.readSource(path)
      const formatted = formatSource(source.text)
      if (formatted === undefined)
        return this.refuse(
          source,
          checkProgram(source.text).diagnostics.filter(({code}) => code.startsWith('parse.')),
        )
      if (path === '-' && !this.flags.check) return this.output.result({text: formatted}, () => formatted)
      const changed = formatted !== source.text
      if (changed && !this.flags.check) await writeFileAtomic(source.path, formatted)
      result.push({file: source.path, changed})
    }
    const changed = result.filter((file) => file.changed)
    if (this.flags.check && changed.length > 0) process.exitCode = 1
    return this.output.result(result, () => changed.map(({file}) => `${file}\n`).join(''))
  }
}
