import {registerSchema, type SchemaObject, unregisterSchema, validate} from '@hyperjump/json-schema/draft-2020-12'
import '@hyperjump/json-schema/draft-04'
import '@hyperjump/json-schema/draft-06'
import '@hyperjump/json-schema/draft-07'
import '@hyperjump/json-schema/draft-2019-09'
import {Ajv, type AnySchemaObject} from 'ajv'
import {Ajv2019} from 'ajv/dist/2019.js'
import {Ajv2020} from 'ajv/dist/2020.js'
import Ajv4 from 'ajv-draft-04'
import formats from 'ajv-formats'

/** What other validators say about an instance; `error` if they do not accept the schema. */
export interface Verdicts {
  readonly ajv: boolean | 'error'
  readonly hyperjump: boolean | 'error'
}

const options = {strict: false, validateFormats: true, logger: false} as const

/** Asks `ajv` and `@hyperjump/json-schema`. */
export async function verdicts(schema: unknown, instance: unknown): Promise<Verdicts> {
  return {ajv: byAjv(schema, instance), hyperjump: await byHyperjump(schema, instance)}
}

function byAjv(schema: unknown, instance: unknown): boolean | 'error' {
  const draft = String((schema as {$schema?: unknown})?.$schema ?? '')
  try {
    const ajv = draft.includes('draft-04')
      ? new (Ajv4 as unknown as typeof Ajv)(options)
      : draft.includes('2020-12') || draft === ''
        ? new Ajv2020(options)
        : draft.includes('2019-09')
          ? new Ajv2019(options)
          : new Ajv(options)
    ;(formats as unknown as (ajv: unknown) => void)(ajv)
    return ajv.validate(schema as AnySchemaObject, instance) === true
  } catch {
    return 'error'
  }
}

async function byHyperjump(schema: unknown, instance: unknown): Promise<boolean | 'error'> {
  const uri = 'https://svc.invalid/schema'
  try {
    registerSchema(schema as SchemaObject, uri, 'https://json-schema.org/draft/2020-12/schema')
    return (await validate(uri, instance as never)).valid
  } catch {
    return 'error'
  } finally {
    unregisterSchema(uri)
  }
}
