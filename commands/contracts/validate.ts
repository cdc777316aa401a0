import {Args} from '@oclif/core'
import {readInput, SvcCommand} from '../../src/cli/index.js'
import type {ContractsValidateV1} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'

export default class ContractsValidate extends SvcCommand<typeof ContractsValidate> {
  static override summary = 'Validate documents against a contract.'
  static override description =
    `Exits with status 1 at the first invalid document and reports the location of the error. Documents are JSON, or YAML if
the file name ends in .yaml or .yml. Without arguments, checks the schemas of all contracts and the documents that ship
with them.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> eval/external-serving-handoff ./run/external_serving_handoff_v1.json',
    '<%= config.bin %> generate --model ./my-model --json Hi | <%= config.bin %> <%= command.id %> cli/generate.v1 -',
    '<%= config.bin %> <%= command.id %>',
  ]
  static override args = {
    contract: Args.string({description: 'Contract id, as printed by svc contracts list. (default: all contracts)'}),
    document: Args.string({description: 'Documents to check; - reads standard input.'}),
  }
  static override strict = false

  async run(): Promise<void> {
    const [contract, ...documents] = this.argumentList
    if (contract === undefined) return this.#checkAll()
    if (documents.length === 0) throw new SvcError('usage', {reason: `No document to check against ${contract}.`})
    const {assertContract, findSchema, readDocument} = await import('../../src/contracts/index.js')
    await findSchema(contract)
    for (const path of documents) {
      const name = path === '-' ? 'standard input' : path
      const source = (await readInput(path, this.signal)).toString('utf8')
      await assertContract(contract, await readDocument(source, name), name)
    }
    const result: ContractsValidateV1 = {ok: true, contract, documents}
    await this.output.result(result, () => documents.map((path) => `${path}: ok\n`).join(''))
  }

  async #checkAll(): Promise<void> {
    const {checkContracts, listContracts} = await import('../../src/contracts/index.js')
    await checkContracts()
    const {length} = await listContracts()
    const result: ContractsValidateV1 = {ok: true, contract: null, documents: []}
    await this.output.result(result, () => `${length} contracts: ok`)
  }
}
