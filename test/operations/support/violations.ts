import {Ajv2020, type ValidateFunction} from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type {Schema} from '../../../src/contracts/index.js'

/** Shared by all schemas of a test file, since creating an instance is slow; as strict as that of the program. */
const ajv = new Ajv2020({allErrors: true, strict: true, allowUnionTypes: true})
addFormats.default(ajv)

const compiled = new Map<Schema, ValidateFunction>()

/** Violations of a schema, by path and reason; empty if the value is valid. */
export function violations(schema: Schema, value: unknown): string[] {
  const validate = compiled.get(schema) ?? ajv.compile(schema)
  compiled.set(schema, validate)
  return validate(value) ? [] : (validate.errors ?? []).map(({instancePath, message}) => `${instancePath} ${message}`)
}
