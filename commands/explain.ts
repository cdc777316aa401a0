import {Args} from '@oclif/core'
import {formatCodes, formatExplanation, SvcCommand} from '../src/cli/index.js'
import type {ExplainV1} from '../src/contracts/index.js'
import {explainErrors, nearest, SvcError} from '../src/errors/index.js'

export default class Explain extends SvcCommand<typeof Explain> {
  static override summary = 'Explain an error or diagnostic code.'
  static override description =
    `Prints the cause and the fix. For a diagnostic of the data language, also prints an example program. Without a code,
lists all codes. The --json output has the same structure with and without a code.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> typecheck.null',
    '<%= config.bin %> <%= command.id %> port_in_use',
    `<%= config.bin %> <%= command.id %> --json | jq -r '.codes[].code'`,
  ]
  static override args = {
    code: Args.string({description: 'Code, as printed in parentheses after an error message. (default: all codes)'}),
  }

  async run(): Promise<void> {
    const {code} = this.args
    const {explainDiagnostics} = await import('../src/lang/index.js')
    const [errors, diagnostics] = await Promise.all([explainErrors(), explainDiagnostics()])
    const all: ExplainV1['codes'] = [
      ...errors.map((error) => ({
        kind: 'error' as const,
        severity: 'error' as const,
        example: null,
        fixed: null,
        ...error,
      })),
      ...diagnostics.map((one) => ({kind: 'diagnostic' as const, exit: null, http: null, ...one})),
    ]
    const codes = code === undefined ? all : all.filter((one) => one.code === code)
    const [first] = codes
    if (first === undefined && code !== undefined) {
      const names = all.map((one) => one.code)
      throw new SvcError('code_unknown', {code, suggestion: nearest(code, names)})
    }
    await this.output.result({codes}, () =>
      code === undefined || first === undefined ? formatCodes(codes, process.stdout.columns) : formatExplanation(first),
    )
  }
}
