import {Flags} from '@oclif/core'
import {DbCommand, programArg, programFlag} from '../../src/cli/index.js'
import type {DbExplainV1} from '../../src/contracts/index.js'
import {nearest, SvcError} from '../../src/errors/index.js'
import type {ExplainRow} from '../../src/lang/index.js'

export default class DbExplain extends DbCommand<typeof DbExplain> {
  static override summary = 'Show the SQL statements that a program runs.'
  static override description = 'By default, shows only the query endpoints.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> examples/apps/library.svc --query by_tag',
    '<%= config.bin %> <%= command.id %> --all --jsonl | jq .plan.sql',
  ]
  static override args = {file: programArg}
  static override flags = {
    ...programFlag,
    query: Flags.string({description: 'Show only this function.', helpValue: 'NAME', exclusive: ['all']}),
    all: Flags.boolean({description: 'Show all functions, not only query endpoints.'}),
    compact: Flags.boolean({description: 'Print JSON without line breaks, as --json always does.', hidden: true}),
    jsonl: Flags.boolean({
      description: 'Print one JSON object per operation, each on its own line.',
      exclusive: ['json'],
    }),
  }

  async run(): Promise<void> {
    const {explain, kindOf} = await import('../../src/lang/index.js')
    const {source, program} = await this.readProgram()
    const {query, all = false, jsonl} = this.flags
    const names = program.functions.map(({name}) => name)
    if (query !== undefined && !names.includes(query))
      throw new SvcError('endpoint_unknown', {name: query, suggestion: nearest(query, names)})
    const plans = explain(program, {query, all})
    if (jsonl) return this.output.piece(plans.map((row) => `${JSON.stringify(row)}\n`).join(''))
    const result: DbExplainV1 = {
      file: source.path,
      query_filter: query ?? null,
      query_function_count: program.functions.filter((made) => kindOf(made) === 'query').length,
      plan_count: plans.length,
      plans,
    }
    return this.output.result(result, () => plans.map(asText).join('\n'))
  }
}

function asText({query_fn: name, route_path: path, plan}: ExplainRow): string {
  const {requires_sync: sync, retrieval_mode: mode, live_topic: topic, orchestration_scope: scope} = plan.capabilities
  const hints = [sync && 'sync', mode && `using ${mode}`, topic && `live ${topic}`, scope && `scope ${scope}`].filter(
    Boolean,
  )
  const notes = [...hints, ...(plan.retrieval === undefined ? [] : [`finds rows by ${plan.retrieval}`])]
  return `${name}${path === null ? '' : `  ${path}`}  ${plan.table}.${plan.op}${notes.length === 0 ? '' : `  [${notes.join(', ')}]`}\n  ${plan.sql}\n`
}
