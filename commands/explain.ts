import {Args} from '@oclif/core'
import {formatCodes, formatExplanation, formatGroups, SvcCommand, tableFlags} from '../src/cli/index.js'
import type {ExplainV1} from '../src/contracts/index.js'
import {errorGroups, explainErrors, nearest, SvcError} from '../src/errors/index.js'

export default class Explain extends SvcCommand<typeof Explain> {
  static override summary = 'Explain an error or diagnostic code.'
  static override description =
    `Prints the cause and the fix. For a diagnostic of the data language, also prints an example program. For a group,
lists its codes; without an argument, lists the groups. With --json, the output is always a list of codes.
For other questions, use svc ask.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> typecheck.null',
    '<%= config.bin %> <%= command.id %> port_in_use',
    '<%= config.bin %> <%= command.id %> speech',
    `<%= config.bin %> <%= command.id %> --json | jq -r '.codes[].code'`,
  ]
  static override args = {
    code: Args.string({description: 'Code, as printed in parentheses after an error message, or a group of codes.'}),
  }
  static override flags = tableFlags

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
    const names = all.map((one) => one.code)
    const groups = [...errorGroups(), ...diagnosticGroups(diagnostics.map((one) => one.code))]
    const [, members] = groups.find(([group]) => group === code) ?? []
    if (code === undefined) return this.output.result({codes: all}, () => formatGroups(groups, this.view))
    const codes = all.filter((one) => one.code === code || members?.includes(one.code))
    const [first] = codes
    if (first === undefined) {
      const suggestion = nearest(code, [...names, ...groups.map(([group]) => group)])
      throw new SvcError('code_unknown', {code, suggestion})
    }
    await this.output.result({codes}, () =>
      members === undefined ? formatExplanation(first) : formatCodes(codes, this.view),
    )
  }
}

/** Diagnostics by the part before the dot: `typecheck.null` is in the group typecheck. */
function diagnosticGroups(codes: readonly string[]): [group: string, codes: string[]][] {
  const groups = new Set(codes.map((code) => code.slice(0, code.indexOf('.'))))
  return [...groups].map((group) => [group, codes.filter((code) => code.startsWith(`${group}.`))])
}
