import {readFile} from 'node:fs/promises'
import type {Ajv2020, ErrorObject, ValidateFunction} from 'ajv/dist/2020.js'
import {nearest, SvcError} from '../errors/index.js'
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
  const created = new Ajv2020({allErrors: true, strict: true, allowUnionTypes: true, verbose: true})
  addFormats.default(created)
  created.addKeyword(synonyms)
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

/** A violation of a contract, for people who wrote the document. */
export interface Violation {
  /** Keys and indexes of the value, or of the member if its key is wrong. */
  readonly path: readonly string[]
  readonly part: 'key' | 'value'
  readonly message: string
  /** The member that the writer may mean instead of an unknown one. */
  readonly suggestion?: string | undefined
}

/**
 * The violations of a contract with their places; empty if the value is valid.
 * @throws contract_unknown, contract_broken
 */
export async function findViolations(id: string, value: unknown): Promise<Violation[]> {
  const {file} = await findSchema(id)
  const validate = await validator(file)
  if (validate(value)) return []
  return (validate.errors ?? []).filter(isTelling).map(asViolation)
}

/** False for errors that others explain better: of the alternatives of a value, and of its alternatives as a whole. */
function isTelling({instancePath, keyword}: ErrorObject, _: number, errors: readonly ErrorObject[]): boolean {
  if (keyword === 'propertyNames') return false
  if (keyword === 'type') return !errors.some((other) => isChoice(other) && other.instancePath === instancePath)
  return (
    !isChoice({keyword}) ||
    !errors.some(
      (other) =>
        other.instancePath.startsWith(`${instancePath}/`) ||
        (other.instancePath === instancePath && !isChoice(other) && other.keyword !== 'type'),
    )
  )
}

const isChoice = ({keyword}: Pick<ErrorObject, 'keyword'>): boolean => keyword === 'anyOf' || keyword === 'oneOf'

const typeNames: Readonly<Record<string, string>> = {array: 'a list', object: 'a mapping', string: 'a text'}

/** Annotation of an object: the members that other programs name differently, by those names. It constrains nothing. */
const synonyms = 'x-synonyms'

/** The member of the schema that an unknown one means: the one of which it is a synonym, else the most similar one. */
function memberLike({
  params,
  parentSchema: {properties = {}, [synonyms]: meant = {}} = {},
}: ErrorObject): string | undefined {
  const member = String(params.additionalProperty)
  return Object.hasOwn(meant, member) ? meant[member] : nearest(member, Object.keys(properties))
}

function asViolation(error: ErrorObject): Violation {
  const {instancePath, keyword, params, message, parentSchema, propertyName} = error
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const name = path.at(-1) ?? 'the document'
  const value = (text: string): Violation => ({path, part: 'value', message: `${name} must be ${text}.`})
  if (propertyName !== undefined)
    return {path: [...path, propertyName], part: 'key', message: `The name "${propertyName}" ${message}.`}
  switch (keyword) {
    case 'additionalProperties': {
      const member = String(params.additionalProperty)
      return {
        path: [...path, member],
        part: 'key',
        message: `Unknown member "${member}".`,
        suggestion: memberLike(error),
      }
    }
    case 'required':
      return {path, part: 'key', message: `Missing member "${params.missingProperty}".`}
    case 'enum':
      return value(`one of ${params.allowedValues.join(', ')}`)
    case 'const':
      return value(String(params.allowedValue))
    case 'type':
      return value(
        [params.type]
          .flat()
          .map((type) => typeNames[type] ?? `of type ${type}`)
          .join(' or '),
      )
    case 'anyOf':
    case 'oneOf': {
      const types = ((parentSchema?.[keyword] ?? []) as {type?: string}[]).map(({type = 'object'}) => type)
      return value([...new Set(types)].map((type) => typeNames[type] ?? `of type ${type}`).join(' or '))
    }
    default:
      return {path, part: 'value', message: `${name} ${message}.`}
  }
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

function describe(error: ErrorObject): string {
  const {instancePath, message, keyword, params} = error
  const place = instancePath === '' ? 'the document' : instancePath
  if (keyword === 'additionalProperties') {
    const suggestion = memberLike(error)
    const also = suggestion === undefined ? '' : ` (did you mean "${suggestion}"?)`
    return `${place} has an unknown member "${params.additionalProperty}"${also}`
  }
  if (keyword === 'enum') return `${place} must be one of ${JSON.stringify(params.allowedValues)}`
  if (keyword === 'const') return `${place} must be ${JSON.stringify(params.allowedValue)}`
  return `${place} ${message}`
}
