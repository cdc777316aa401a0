import {Args} from '@oclif/core'
import {DbCommand, databaseFlag, programFlag} from '../../src/cli/index.js'
import {nearest, SvcError} from '../../src/errors/index.js'

export default class DbCall extends DbCommand<typeof DbCall> {
  static override summary = 'Run one endpoint of a program.'
  static override description =
    `In this process, without a server. Arguments are name=value, where the value is JSON or plain text. The result is printed
as JSON; an endpoint that returns an Error ends with 4.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> add title="buy milk"',
    '<%= config.bin %> <%= command.id %> list --program examples/todo.svc | jq length',
  ]
  static override args = {
    endpoint: Args.string({description: 'Name of the endpoint.', required: true}),
    arguments: Args.string({description: 'Its arguments, name=value.', multiple: true}),
  }
  static override flags = {
    ...databaseFlag,
    ...programFlag,
  }

  async run(): Promise<void> {
    const {Application, BadArgument, Failure, kindOf, readArguments, toJson, display} = await import(
      '../../src/lang/index.js'
    )
    const {program} = await this.readProgram()
    const {endpoint: name} = this.args
    const endpoints = program.functions.filter((made) => kindOf(made) !== 'plain' && kindOf(made) !== 'http')
    const target = endpoints.find((made) => made.name === name)
    if (target === undefined)
      throw new SvcError('endpoint_unknown', {
        name,
        suggestion: nearest(
          name,
          endpoints.map((made) => made.name),
        ),
      })
    const application = await Application.open(program, {
      path: await this.prepareDatabase(program),
      ports: this.ports(),
    })
    try {
      const args = readArguments(target, this.argumentList.slice(1))
      const {kind, value} = await application.call(target, args)
      if (kind === 'domain') throw new SvcError('endpoint_refused', {name, detail: display(value)})
      await this.output.result(toJson(value), (json) => (value === undefined ? '' : JSON.stringify(json, null, 2)))
    } catch (thrown) {
      if (thrown instanceof BadArgument)
        throw new SvcError('argument_invalid', {name: thrown.argument, fault: thrown.message})
      if (thrown instanceof Failure)
        throw new SvcError('endpoint_failed', {name, reason: thrown.reason, detail: thrown.message}, {cause: thrown})
      throw thrown
    } finally {
      application.close()
    }
  }
}
