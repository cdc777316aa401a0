import {Args} from '@oclif/core'
import {DbCommand, databaseFlag, onlyProgramFlag} from '../../src/cli/index.js'

export default class DbCall extends DbCommand<typeof DbCall> {
  static override summary = 'Call an endpoint of a program.'
  static override description =
    `Runs the endpoint in this process, without a server, and prints the result as JSON. Argument values are JSON or plain
text. Exits with status 4 if the endpoint returns an Error.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> add title="buy milk"',
    '<%= config.bin %> <%= command.id %> list --program examples/todo.svc | jq length',
  ]
  static override args = {
    endpoint: Args.string({description: 'Endpoint name.', required: true}),
    arguments: Args.string({description: 'Arguments of the endpoint, as name=value.', multiple: true}),
  }
  static override flags = {
    ...databaseFlag,
    ...onlyProgramFlag,
  }

  async run(): Promise<void> {
    const {Application, callByName} = await import('../../src/lang/index.js')
    const {program} = await this.readProgram()
    const {endpoint: name} = this.args
    const application = await Application.open(program, {
      path: await this.prepareDatabase(program),
      ports: this.ports(),
    })
    try {
      const value = await callByName(application, name, this.argumentList.slice(1))
      await this.output.result(value ?? null, () => (value === undefined ? '' : JSON.stringify(value, null, 2)))
    } finally {
      application.close()
    }
  }
}
