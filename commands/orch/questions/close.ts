import {formatQuestions, OperationCommand, operationFlags} from '../../../src/cli/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'
import type {Question} from '../../../src/tasks/index.js'

const closeQuestions = commandCall(operationNamed('close_questions'))

export default class OrchQuestionsClose extends OperationCommand<typeof OrchQuestionsClose> {
  static override summary = closeQuestions.operation.summary
  static override description =
    `Use this for questions that no longer matter. A task that waits for one of them continues without an answer. The
command prints the questions that had no answer.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --task-id T-0042',
    '<%= config.bin %> <%= command.id %> --session-id s1',
  ]
  static override flags = operationFlags(closeQuestions)

  async run(): Promise<void> {
    const result = await this.perform<{questions: Question[]}>(closeQuestions)
    await this.output.result(result, ({questions}) => formatQuestions(questions, this.view))
  }
}
