import {readFile} from 'node:fs/promises'
import type {Ajv2020, ErrorObject, ValidateFunction} from 'ajv/dist/2020.js'
import {SvcError} from '../errors/index.js'
import {
  type Contract,
  type ContractDocument,
  findSchema,
  listContracts,
  listDocuments,
  type Schema,
} from './catalogue.js'
import {readDocument} from './document.js'

let shared: Promise<Ajv2020> | undefined
/** The instance for schemas that are not contracts. */
let sharedByParts: Promise<Ajv2020> | undefined

const compiled = new Map<string, Promise<ValidateFunction>>()

/** Maximum number of violations to list. */
const maxViolations = 8

/** Ajv is slow to load, so it is loaded only for a validation. */
async function createAjv(): Promise<Ajv2020> {
  const [{Ajv2020}, {default: addFormats}] = await Promise.all([import('ajv/dist/2020.js'), import('ajv-formats')])
  const created = new Ajv2020({allErrors: true, strict: true, allowUnionTypes: true})
  addFormats.default(created)
  return created
}

function validator(file: string): Promise<ValidateFunction> {
  let found = compiled.get(file)
  if (found === undefined) {
    found = compile(file)
    compiled.set(file, found)
  }
  return found
}

async function compile(file: string): Promise<ValidateFunction> {
  try {
    shared ??= createAjv()
    return (await shared).compile(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    throw new SvcError('contract_broken', {file, reason: (error as Error).message}, {cause: error})
  }
}

/**
 * Checks all contracts: schemas and the schemas of OpenAPI documents compile, and documents match their schemas.
 * @throws contract_broken; document_unparsable, contract_violation, contract_unknown for documents
 */
export async function checkContracts(): Promise<void> {
  for (const {file} of await listContracts('schema')) await validator(file)
  for (const contract of await listContracts('openapi')) await compileComponents(contract)
  for (const document of await listDocuments()) await checkDocument(document)
}

/**
 * Validates a document of the catalogue against its schema.
 * @throws document_unparsable, contract_violation, contract_unknown
 */
export async function checkDocument({contract: {file}, schema}: ContractDocument): Promise<void> {
  await assertContract(schema, await readDocument(await readFile(file, 'utf8'), file), file)
}

/**
 * Compiles the component schemas of an OpenAPI document, and returns them by name.
 * @throws contract_broken
 */
export async function compileComponents({id, file}: Contract): Promise<ReadonlyMap<string, ValidateFunction>> {
  try {
    const {components} = (await readDocument(await readFile(file, 'utf8'), file)) as {components: {schemas: object}}
    const urn = `urn:svc:contract:${id}`
    // A schema without constraints, through which the components refer to each other.
    const own = (await createAjv()).addKeyword('components').addSchema({components}, urn)
    const names = Object.keys(components.schemas)
    return new Map(names.map((name) => [name, own.getSchema(`${urn}#/components/schemas/${name}`) as ValidateFunction]))
  } catch (error) {
    throw new SvcError('contract_broken', {file, reason: (error as Error).message}, {cause: error})
  }
}

/**
 * Violations of a contract, one line each; empty if the value is valid.
 * @throws contract_unknown, contract_broken; usage if the contract is not a schema
 */
export async function contractViolations(id: string, value: unknown): Promise<string[]> {
  const {file} = await findSchema(id)
  return violationsOf(await validator(file), value)
}

/** Returns the violations of a value, one line each; empty if it is valid. */
export type Check = (value: unknown) => string[]

/**
 * Compiles a schema that is not a contract.
 * @throws contract_broken
 */
export async function compileSchema(schema: Schema, name: string): Promise<Check> {
  const ajv = await validatorOfParts(schema)
  try {
    const validate = ajv.compile(schema)
    ajv.removeSchema(schema)
    return (value) => violationsOf(validate, value)
  } catch (error) {
    throw new SvcError('contract_broken', {file: name, reason: (error as Error).message}, {cause: error})
  }
}

/** One instance for all schemas, except those with an id, since two schemas may have the same id. */
function validatorOfParts(schema: Schema): Promise<Ajv2020> {
  if (JSON.stringify(schema).includes('"$id"')) return createAjv()
  sharedByParts ??= createAjv()
  return sharedByParts
}

function violationsOf(validate: ValidateFunction, value: unknown): string[] {
  if (validate(value)) return []
  const lines = (validate.errors ?? []).map(describe)
  return lines.length <= maxViolations
    ? lines
    : [...lines.slice(0, maxViolations), `and ${lines.length - maxViolations} more`]
}

/** @throws contract_violation with the JSON pointer of each violation, and the errors of `contractViolations` */
export async function assertContract(id: string, value: unknown, subject: string): Promise<void> {
  const violations = await contractViolations(id, value)
  if (violations.length > 0) throw new SvcError('contract_violation', {subject, contract: id, violations})
}

function describe({instancePath, message, keyword, params}: ErrorObject): string {
  const place = instancePath === '' ? 'the document' : instancePath
  if (keyword === 'additionalProperties') return `${place} has an unknown member "${params.additionalProperty}"`
  if (keyword === 'enum') return `${place} must be one of ${JSON.stringify(params.allowedValues)}`
  if (keyword === 'const') return `${place} must be ${JSON.stringify(params.allowedValue)}`
  return `${place} ${message}`
}
