import {formatContracts, SvcCommand, tableFlags} from '../../src/cli/index.js'

export default class ContractsList extends SvcCommand<typeof ContractsList> {
  static override summary = 'List the contracts: JSON and OpenAPI schemas.'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --json']
  static override flags = tableFlags

  async run(): Promise<void> {
    const {listContracts} = await import('../../src/contracts/index.js')
    await this.output.result(await listContracts(), (contracts) => formatContracts(contracts, this.view))
  }
}
