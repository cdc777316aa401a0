import {operationsPage} from '../../src/operations/operations-page.js'
import {rpcContract} from '../../src/operations/rpc-contract.js'
import {jsonText} from './json-text.js'

/** The files that are written from the table of operations, by their path in the project. */
export const generatedFiles = (): Record<string, string> => ({
  'contracts/orchestration/orch-daemon-rpc-methods.schema.json': jsonText(rpcContract()),
  'contracts/orchestration/operations.md': operationsPage(),
})
