import type {StandardSchemaV1} from '@modelcontextprotocol/server'

/** Parameters that the handler of a method validates itself. */
export const anyParams: StandardSchemaV1<unknown, Readonly<Record<string, unknown>>> = {
  '~standard': {
    version: 1,
    vendor: 'svc',
    validate: (value) => ({value: (value ?? {}) as Readonly<Record<string, unknown>>}),
  },
}
