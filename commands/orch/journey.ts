import {formatTable, OperationCommand, operationArgs, tableFlags, wrapped} from '../../src/cli/index.js'
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
    await this.output.result(journey, ({steps}) =>
      formatTable(
        ['STEP', wrapped('WHAT'), 'WHO', wrapped('WITH'), 'MATURITY', wrapped('LIMITS')],
        steps.map(({ordinal, step_id, actor, primary_operation_id = '', maturity, limitation_ids = []}) => [
          String(ordinal),
          step_id,
          actor,
          primary_operation_id,
          maturity,
          limitation_ids.join(', '),
        ]),
        this.view,
      ),
    )
  }
}
