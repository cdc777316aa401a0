import {readFile} from 'node:fs/promises'
import {Ajv2020, type ErrorObject, type ValidateFunction} from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import {SvcError} from '../errors/index.js'
import {type Contract, findSchema, listContracts} from './catalogue.js'
import {readDocument} from './document.js'

const ajv = createAjv()

const compiled = new Map<string, Promise<ValidateFunction>>()

/** Violations are cut after this many: the first ones say what is wrong. */
const maxViolations = 8

function createAjv(): Ajv2020 {
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
    return ajv.compile(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    throw new SvcError('contract_broken', {file, reason: (error as Error).message}, {cause: error})
  }
}

/**
 * Compiles every contract: the schemas themselves are sound.
 * @throws contract_broken
 */
export async function checkContracts(): Promise<void> {
  for (const {file} of await listContracts('schema')) await validator(file)
  for (const contract of await listContracts('openapi')) await compileComponents(contract)
}

/**
 * Compiles the schemas among the components of an OpenAPI document; gives them by name.
 * @throws contract_broken
 */
export async function compileComponents({id, file}: Contract): Promise<ReadonlyMap<string, ValidateFunction>> {
  try {
    const {components} = readDocument(await readFile(file, 'utf8'), file) as {components: {schemas: object}}
    const urn = `urn:svc:contract:${id}`
    // A schema of no rules, through which its parts refer to each other.
    const own = createAjv().addKeyword('components').addSchema({components}, urn)
    const names = Object.keys(components.schemas)
    return new Map(names.map((name) => [name, own.getSchema(`${urn}#/components/schemas/${name}`) as ValidateFunction]))
  } catch (error) {
    throw new SvcError('contract_broken', {file, reason: (error as Error).message}, {cause: error})
  }
}

/**
 * What is wrong with a value, one line each; empty when it fits.
 * @throws contract_unknown, contract_broken; usage when the contract is no schema
 */
export async function contractViolations(id: string, value: unknown): Promise<string[]> {
  const {file} = await findSchema(id)
  const validate = await validator(file)
  if (validate(value)) return []
  const lines = (validate.errors ?? []).map(describe)
  return lines.length <= maxViolations
    ? lines
    : [...lines.slice(0, maxViolations), `and ${lines.length - maxViolations} more`]
}

/** @throws contract_violation with the JSON pointer of each place; else as `contractViolations` */
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
