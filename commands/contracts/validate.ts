import {Args} from '@oclif/core'
import {readInput, SvcCommand} from '../../src/cli/index.js'
import type {ContractsValidateV1} from '../../src/contracts/index.js'

export default class ContractsValidate extends SvcCommand<typeof ContractsValidate> {
  static override summary = 'Validate documents against a contract.'
  static override description =
    `Fails with status 1 at the first document that does not fit, and says where. A document is JSON, or YAML when its
name ends in .yaml or .yml.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> external_serving_handoff_v1 ./run/external_serving_handoff_v1.json',
    '<%= config.bin %> generate --model ./my-model --json Hi | <%= config.bin %> <%= command.id %> cli/generate.v1 -',
  ]
  static override args = {
    contract: Args.string({description: 'Id of the contract.', required: true}),
    document: Args.string({description: 'The document; - reads standard input. May be repeated.', required: true}),
  }
  static override strict = false

  async run(): Promise<void> {
    const {assertContract, findContract, readDocument} = await import('../../src/contracts/index.js')
    const [contract = '', ...documents] = this.argumentList
    await findContract(contract)
    for (const path of documents) {
      const name = path === '-' ? 'standard input' : path
      const source = (await readInput(path, this.signal)).toString('utf8')
      await assertContract(contract, readDocument(source, name), name)
    }
    const result: ContractsValidateV1 = {ok: true, contract, documents}
    await this.output.result(result, () => documents.map((path) => `${path}: ok\n`).join(''))
  }
}
