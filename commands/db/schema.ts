import {DbCommand, formatTable, programArg, programFlag, type TableView, wrapped} from '../../src/cli/index.js'
import type {SchemaDigest} from '../../src/lang/index.js'

export default class DbSchema extends DbCommand<typeof DbSchema> {
  static override summary = 'Show the tables, indexes and endpoints of a program.'
  static override description = 'The --json output is compact, for use in prompts for code generation.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> examples/apps/library.svc',
    '<%= config.bin %> <%= command.id %> --json',
  ]
  static override args = {file: programArg}
  static override flags = programFlag

  async run(): Promise<void> {
    const {schemaDigest} = await import('../../src/lang/index.js')
    const {program} = await this.readProgram()
    await this.output.result(schemaDigest(program), (digest) => asText(digest, this.view))
  }
}

function asText({tables, indexes, queries, mutations, summary}: SchemaDigest, view: TableView): string {
  const fields = tables.map(({name, fields: columns, example_insert: insert, example_query: query}) =>
    [
      name,
      ...columns.map(
        (field) =>
          `  ${field.name}: ${field.type_str}${field.references_table === undefined ? '' : ` -> ${field.references_table}`}`,
      ),
      `  ${insert}`,
      `  ${query}\n`,
    ].join('\n'),
  )
  const endpoints = [
    ...queries.map((each) => ['query', each] as const),
    ...mutations.map((each) => ['mutation', each] as const),
  ]
  const rows = endpoints.map(([kind, {name, params, return_type: type}]) => [
    kind,
    `${name}(${params.map((param) => `${param.name}: ${param.type_str}`).join(', ')})`,
    type,
  ])
  const listed = indexes.map(({table_name: table, index_name: name, columns, kind}) => [
    `${table}.${name}`,
    columns.join(', '),
    kind,
  ])
  return [
    ...fields,
    ...(listed.length === 0 ? [] : [formatTable([wrapped('INDEX'), wrapped('COLUMNS'), 'KIND'], listed, view)]),
    ...(rows.length === 0 ? [] : [formatTable(['KIND', wrapped('ENDPOINT'), wrapped('RESULT')], rows, view)]),
    summary,
  ].join('\n')
}
