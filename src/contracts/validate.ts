import {readFile} from 'node:fs/promises'
import {Ajv2020, type ErrorObject, type ValidateFunction} from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import {SvcError} from '../errors/index.js'
import {findContract, listContracts} from './catalogue.js'

const ajv = new Ajv2020({allErrors: true, strict: true, allowUnionTypes: true})
addFormats.default(ajv)

const compiled = new Map<string, Promise<ValidateFunction>>()

/** Violations are cut after this many: the first ones say what is wrong. */
const maxViolations = 8

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
  for (const {file} of await listContracts()) await validator(file)
}

/**
 * What is wrong with a value, one line each; empty when it fits.
 * @throws contract_unknown, contract_broken
 */
export async function contractViolations(id: string, value: unknown): Promise<string[]> {
  const {file} = await findContract(id)
  const validate = await validator(file)
  if (validate(value)) return []
  const lines = (validate.errors ?? []).map(describe)
  return lines.length <= maxViolations
    ? lines
    : [...lines.slice(0, maxViolations), `and ${lines.length - maxViolations} more`]
}

/** @throws contract_violation with the JSON pointer of each place; contract_unknown, contract_broken */
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
