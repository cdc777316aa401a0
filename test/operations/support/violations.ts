import {Ajv2020, type ValidateFunction} from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type {Schema} from '../../../src/contracts/index.js'

/** One for all schemas of a test file, as strict as the program's own: making one takes longer than most schemas. */
const ajv = new Ajv2020({allErrors: true, strict: true, allowUnionTypes: true})
addFormats.default(ajv)

const compiled = new Map<Schema, ValidateFunction>()

/** What is wrong with a value, by place and reason; empty where it fits the schema. */
export function violations(schema: Schema, value: unknown): string[] {
  const validate = compiled.get(schema) ?? ajv.compile(schema)
  compiled.set(schema, validate)
  return validate(value) ? [] : (validate.errors ?? []).map(({instancePath, message}) => `${instancePath} ${message}`)
}
