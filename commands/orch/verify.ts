import {OperationCommand, operationArgs} from '../../src/cli/index.js'
import type {OrchVerifyV1} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'

const verifyTask = commandCall(operationNamed('verify_task'))

export default class OrchVerify extends OperationCommand<typeof OrchVerify> {
  static override summary = verifyTask.operation.summary
  static override description =
    `The receipt of a task is a digest of its description, its result and the evidence that the completion gates accepted.
Exits with status 1 if the stored evidence no longer matches the receipt. Files that changed after the completion are
listed, but do not invalidate it.`
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042']
  static override args = operationArgs(verifyTask)

  async run(): Promise<void> {
    const verified = await this.perform<OrchVerifyV1>(verifyTask)
    await this.output.result(verified, format)
    if (!verified.valid) throw new SvcError('receipt_invalid', {task: verified.display_id, receipt: verified.receipt})
  }
}

const format = ({display_id, status, receipt, valid, files}: OrchVerifyV1): string =>
  [
    `${display_id} is ${status}; its receipt is ${valid ? 'valid' : receipt === undefined ? 'missing' : 'invalid'}`,
    ...(receipt === undefined ? [] : [`  ${receipt}`]),
    ...files.map(({path, state}) => `  ${path}: ${state}`),
  ].join('\n')
