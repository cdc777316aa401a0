/**
 * The wire contracts: the catalogue `contracts/index.yaml`, the schemas and OpenAPI documents it names, and validation
 * against the schemas. The types in `types.ts` are generated from the same schemas.
 */
export {
  type Contract,
  type ContractKind,
  contractsFolder,
  findContract,
  findSchema,
  listContracts,
} from './catalogue.js'
export {readDocument} from './document.js'
export type * from './types.js'
export {assertContract, checkContracts, compileComponents, contractViolations} from './validate.js'
