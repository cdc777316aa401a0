import {SvcError} from '../../errors/index.js'
import type {Application, FunctionType, Program} from '../../lang/index.js'
import {DetailedError, type Effect} from '../../operations/index.js'
import {type Answer, envelopeSchema} from '../envelope.js'
import {hintsOf} from '../operation-tool.js'
import type {Tool} from '../tool.js'

type LangModule = typeof import('../../lang/index.js')

export interface ProgramSource {
  /** Name of its file without the ending; stands before names that are taken. */
  stem: string
  program: Program
  application: Application
  /** Names of the tools that there are already. */
  taken: ReadonlySet<string>
}

/**
 * The endpoints of a program as tools: what they are called, take and give is what the program says, and what they do to
 * its data is what it was checked for.
 * @throws tool_name_taken
 */
export async function openProgramTools({stem, program, application, taken}: ProgramSource): Promise<Tool[]> {
  const [lang, {endpointSchemas}] = await Promise.all([import('../../lang/index.js'), import('./schemas.js')])
  const schemasOf = endpointSchemas(program)
  const endpoints = program.routes.filter(({kind}) => kind !== 'http')
  const names = new Set(taken)
  return endpoints.map((route) => {
    const {function: made} = route
    const name = freeName(made.name, stem, names)
    names.add(name)
    const {input, output} = schemasOf(route)
    return {
      name,
      tier: 'core',
      lane: 'data',
      input,
      listed: {
        name,
        description: made.decl.doc ?? `The ${route.kind} ${made.name} of ${stem}.`,
        inputSchema: input,
        outputSchema: envelopeSchema(output),
        annotations: {title: made.name, ...effectsOf(lang, made)},
      },
      call: async (args) => answerOf(made, await called(lang, application, made, args)),
    }
  })
}

function freeName(name: string, stem: string, taken: ReadonlySet<string>): string {
  const longer = `${stem.replace(/\W+/g, '_')}_${name}`
  const free = [name, longer].find((each) => !taken.has(each))
  if (free === undefined) throw new SvcError('tool_name_taken', {endpoint: name, name: longer})
  return free
}

/** Adding rows takes nothing away; changing and deleting does. */
function effectsOf({reachable}: LangModule, made: FunctionType) {
  const effects = [...reachable(made)].flatMap((each) => each.effects)
  const writes = effects.filter(({kind}) => kind === 'write')
  const onlyAdds = writes.every(({what}) => /\.insert\(\)$/.test(what))
  const effect: Effect = writes.length === 0 ? 'read' : onlyAdds ? 'write' : 'destructive'
  return hintsOf(effect, {idempotent: effect === 'read', openWorld: false})
}

/** @throws params_invalid, endpoint_failed */
async function called(
  lang: LangModule,
  application: Application,
  made: FunctionType,
  given: Readonly<Record<string, unknown>>,
) {
  const args = readArguments(lang, made, given)
  try {
    return await application.call(made, args)
  } catch (thrown) {
    if (!(thrown instanceof lang.Failure)) throw thrown
    const {reason, message} = thrown
    throw new SvcError('endpoint_failed', {name: made.name, reason, detail: message}, {cause: thrown})
  }
}

/** Arguments in the order of the parameters. @throws params_invalid with all that does not fit */
function readArguments(
  {decoder, TypeMismatch}: LangModule,
  made: FunctionType,
  given: Readonly<Record<string, unknown>>,
) {
  const violations = Object.keys(given)
    .filter((name) => !made.params.some((param) => param.name === name))
    .map((name) => `the document has an unknown member "${name}"`)
  const args = made.params.map(({name, type, optional}) => {
    if (!Object.hasOwn(given, name)) {
      const isNeeded = !optional && type.kind !== 'option' && type.kind !== 'request'
      if (isNeeded) violations.push(`the document must have required property '${name}'`)
      return optional ? undefined : null
    }
    try {
      return decoder(type)(given[name])
    } catch (error) {
      if (!(error instanceof TypeMismatch)) throw error
      violations.push(`/${name} must be ${error.expected}`)
      return undefined
    }
  })
  if (violations.length > 0) throw new SvcError('params_invalid', {operation: made.name, violations})
  return args
}

/** @throws endpoint_refused where the program says no, with what it says */
async function answerOf({name}: FunctionType, {kind, value}: {kind: string; value: unknown}): Promise<Answer> {
  const {display, toJson} = await import('../../lang/index.js')
  if (kind === 'domain')
    throw new DetailedError(new SvcError('endpoint_refused', {name, detail: display(value)}), {details: toJson(value)})
  return {data: value === undefined ? undefined : toJson(value)}
}
