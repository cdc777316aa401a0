import {jsonText} from './json-text.js'
import {operationsPage} from './operations-page.js'
import {rpcContract} from './rpc-contract.js'

/** The files generated from the table of operations, by path in the project. */
export const generatedFiles = (): Record<string, string> => ({
  'contracts/orchestration/orch-daemon-rpc-methods.schema.json': jsonText(rpcContract()),
  'contracts/orchestration/operations.md': operationsPage(),
})
