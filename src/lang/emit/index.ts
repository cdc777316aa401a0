/** Generates DDL, TypeScript, OpenAPI and schema digests from a program. */
export {appContract} from './app-contract.js'
export {canonicalJson} from './canonical-json.js'
export {
  backfill,
  columnDefinition,
  constraintPrefix,
  constraintsOf,
  createIndex,
  createTable,
  ddl,
  sqlType,
} from './ddl.js'
export {functionsFile} from './functions.js'
export {openapi} from './openapi.js'
export {type SchemaDigest, schemaDigest} from './schema-digest.js'
export {clientFile, schemasFile, typesFile} from './typescript.js'
