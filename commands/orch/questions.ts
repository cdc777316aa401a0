import {formatQuestions, OperationCommand, operationFlags, tableFlags} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {Question} from '../../src/tasks/index.js'

const pendingQuestions = commandCall(operationNamed('pending_questions'))

export default class OrchQuestions extends OperationCommand<typeof OrchQuestions> {
  static override summary = pendingQuestions.operation.summary
  static override description =
    `Agents and assistants ask these questions when the description of their work is not clear. Until a question is
answered, programs cannot submit further tasks in its session, and the task that waits for it does not run.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    "<%= config.bin %> <%= command.id %> --session-id s1 --answered --json | jq -r '.questions[].answer'",
  ]
  static override flags = {...operationFlags(pendingQuestions), ...tableFlags}

  async run(): Promise<void> {
    const result = await this.perform<{questions: Question[]}>(pendingQuestions)
    await this.output.result(result, ({questions}) => formatQuestions(questions, this.view))
  }
}
