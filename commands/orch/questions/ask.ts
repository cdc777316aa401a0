import {formatQuestions, OperationCommand, operationArgs, operationFlags} from '../../../src/cli/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'
import type {Question} from '../../../src/tasks/index.js'

const askQuestion = commandCall(operationNamed('ask_question'))

export default class OrchQuestionsAsk extends OperationCommand<typeof OrchQuestionsAsk> {
  static override summary = askQuestion.operation.summary
  static override description =
    `The question needs a session or a task. Until it is answered with svc orch questions answer, programs cannot submit
further tasks in its session. With --blocks, the task stops and continues with the answer.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> "Which format?" --task-id T-0042 --option json --option yaml --blocks',
    '<%= config.bin %> <%= command.id %> - --session-id s1 < question.txt',
  ]
  static override args = operationArgs(askQuestion)
  static override flags = operationFlags(askQuestion)

  async run(): Promise<void> {
    const {question} = await this.perform<{question: Question}>(askQuestion)
    await this.output.result({questions: [question]}, () => formatQuestions([question], this.view))
  }
}
