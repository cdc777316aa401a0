import {Flags} from '@oclif/core'
import {DbCommand, programFlag, programsArg, type Source} from '../../src/cli/index.js'
import type {DbCheckV1} from '../../src/contracts/index.js'
import {counted} from '../../src/errors/index.js'
import type {Diagnostic} from '../../src/lang/index.js'

export default class DbCheck extends DbCommand<typeof DbCheck> {
  static override summary = 'Check programs for errors.'
  static override description =
    'Prints all errors and warnings with their locations. Exits with status 1 if there is an error.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> examples/todo.svc --json | jq ".diagnostics[].error_code"',
  ]
  static override args = {files: programsArg}
  static override flags = {
    ...programFlag,
    'deny-warnings': Flags.boolean({description: 'Treat warnings as errors.'}),
  }

  async run(): Promise<void> {
    const {asJson, checkProgram, Lines, renderDiagnostics} = await import('../../src/lang/index.js')
    const checked: {source: Source; diagnostics: readonly Diagnostic[]}[] = []
    for (const path of this.programPaths) {
      const source = await this.readSource(path)
      checked.push({source, diagnostics: checkProgram(source.text).diagnostics})
    }
    const count = (severity: string) =>
      checked.flatMap(({diagnostics}) => diagnostics.filter((found) => found.severity === severity)).length
    const [errors, warnings] = [count('error'), count('warning')]
    const result: DbCheckV1 = {
      files: checked.length,
      errors,
      warnings,
      diagnostics: checked.flatMap(({source, diagnostics}) => {
        const lines = new Lines(source.text)
        return diagnostics.map((found) => asJson(found, source.path, lines))
      }),
    }
    await this.output.result(result, () => {
      const affected = checked.filter(({diagnostics}) => diagnostics.length > 0)
      const texts = affected.map(({source, diagnostics}) => renderDiagnostics(diagnostics, source.path, source.text))
      const files = counted(checked.length, 'file')
      return [...texts, `${files}, ${counted(errors, 'error')}, ${counted(warnings, 'warning')}`].join('\n')
    })
    if (errors > 0 || (this.flags['deny-warnings'] && warnings > 0)) process.exitCode = 1
  }
}
