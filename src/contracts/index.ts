/**
 * The wire contracts: the catalogue `contracts/index.yaml`, its schemas and OpenAPI documents, validation against the
 * schemas, and the messages of JSON-RPC. The build generates the types in `types.ts` from the same schemas.
 */
export {
  type Contract,
  contractSchema,
  contractsFolder,
  findContract,
  findSchema,
  listContracts,
  type Schema,
} from './catalogue.js'
export {clearDecision, typedDecision} from './decision.js'
export {readDocument} from './document.js'
export {
  invalidMessage,
  isMethod,
  type Members,
  type MessageId,
  type MessageRefusal,
  methodWords,
  type ParsedMessage,
  parseMessage,
  type RequestMessage,
  readRequest,
} from './json-rpc.js'
export {withoutNulls, withoutUndefined} from './members.js'
export {isObject, plainViolations} from './plain-check.js'
export {readRetentionPolicy} from './retention-policy.js'
export type * from './types.js'
export {
  assertContract,
  type Check,
  checkContracts,
  compileComponents,
  compileSchema,
  contractViolations,
  findViolations,
  type Violation,
} from './validate.js'
