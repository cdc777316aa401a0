/**
 * The wire contracts: the catalogue `contracts/index.yaml`, the schemas it names, and validation against them. The
 * types in `types.ts` are generated from the same schemas.
 */
export {type Contract, contractsFolder, findContract, listContracts} from './catalogue.js'
export {readDocument} from './document.js'
export type * from './types.js'
export {assertContract, checkContracts, contractViolations} from './validate.js'
