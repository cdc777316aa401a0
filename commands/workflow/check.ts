import {Args} from '@oclif/core'
import {fileOrInput, formatTable, SvcCommand, wrapped} from '../../src/cli/index.js'
import {counted} from '../../src/errors/index.js'

export default class WorkflowCheck extends SvcCommand<typeof WorkflowCheck> {
  static override summary = 'Check workflow files.'
  static override description =
    `Checks the format, the expressions, and the ids of the steps. Prints all errors with their locations, and exits with
status 1 if there is one. Editors can use the schema that svc contracts list names workflow/workflow.v1.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> release.yaml',
    'cat release.yaml | <%= config.bin %> <%= command.id %> -',
  ]
  static override strict = false
  static override args = {
    file: Args.string({description: 'Workflow file, or - for standard input; may be repeated.', required: true}),
  }

  async run(): Promise<void> {
    const [{loadWorkflows}, {Lines, renderDiagnostics, spanOf}] = await Promise.all([
      import('../../src/workflow/index.js'),
      import('../../src/lang/index.js'),
    ])
    const {checkWorkflows, everyStep} = await loadWorkflows()
    const inputs = await Promise.all(this.argumentList.map((path) => fileOrInput(path, this.signal)))
    const files = await Promise.all(inputs.map(async ([file, text]) => ({file, ...(await checkWorkflows(file, text))})))
    const workflows = files.flatMap(({file, workflows}) =>
      workflows.map(({name, steps, digest}) => ({file, name, steps: [...everyStep(steps)].length, digest})),
    )
    const errors = files.flatMap(({file, source, findings}) => {
      const lines = new Lines(source)
      return findings.map(({code, message, hints = [], fixes = [], ...range}) => ({
        code,
        message,
        file,
        span: spanOf(range, lines),
        hints: [...hints, ...fixes.map(({label}) => label)],
      }))
    })
    await this.output.result({workflows, errors}, () => {
      const faulty = files.filter(({findings}) => findings.length > 0)
      if (faulty.length === 0)
        return formatTable(
          [wrapped('FILE'), 'WORKFLOW', 'STEPS'],
          workflows.map(({file, name, steps}) => [file, name, String(steps)]),
          this.view,
        )
      const texts = faulty.map(({file, source, findings}) => renderDiagnostics(findings, file, source))
      return [...texts, `${counted(files.length, 'file')}, ${counted(errors.length, 'error')}`].join('\n')
    })
    if (errors.length > 0) process.exitCode = 1
  }
}
