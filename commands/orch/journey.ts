import {formatJourney, OperationCommand, operationArgs, tableFlags} from '../../src/cli/index.js'
import type {CanonicalSteps} from '../../src/journeys/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'

const canonicalSteps = commandCall(operationNamed('journey_canonical_steps'))

export default class OrchJourney extends OperationCommand<typeof OrchJourney> {
  static override summary = canonicalSteps.operation.summary
  static override description =
    `A journey is the path of a request through svc, from user input to result. The operation of each step is a command, a
daemon method or a tool. Known limitations are listed in contracts/journeys/limitations.v1.yaml.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    "<%= config.bin %> <%= command.id %> --json | jq -r '.steps[].primary_operation_id'",
  ]
  static override args = operationArgs(canonicalSteps)
  static override flags = tableFlags

  async run(): Promise<void> {
    const journey = await this.perform<CanonicalSteps>(canonicalSteps)
    await this.output.result(journey, (shown) => formatJourney(shown, this.view))
  }
}
