import {formatQuestions, OperationCommand, operationArgs, operationFlags} from '../../../src/cli/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'
import type {Question} from '../../../src/tasks/index.js'

const answerQuestion = commandCall(operationNamed('answer_question'))

export default class OrchQuestionsAnswer extends OperationCommand<typeof OrchQuestionsAnswer> {
  static override summary = answerQuestion.operation.summary
  static override description =
    `A question is answered once. If it has options, the answer is the id or the label of one of them; other texts are
accepted only if an option allows it. The answer is appended to the description of the task that waits for it.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> Q-0007 json',
    '<%= config.bin %> <%= command.id %> Q-0008 - < answer.txt',
  ]
  static override args = operationArgs(answerQuestion)
  static override flags = operationFlags(answerQuestion)

  async run(): Promise<void> {
    const {question} = await this.perform<{question: Question}>(answerQuestion)
    await this.output.result({questions: [question]}, () => formatQuestions([question], this.view))
  }
}
