import {SvcError} from '../../errors/index.js'
import type {Application, FunctionType, Program} from '../../lang/index.js'
import {DetailedError, type Effect} from '../../operations/index.js'
import {type Answer, envelopeSchema} from '../envelope.js'
import {hintsOf} from '../operation-tool.js'
import type {Tool} from '../tool.js'
import {type EndpointTool, grouped} from './grouped-tools.js'

type LangModule = typeof import('../../lang/index.js')

export interface ProgramSource {
  /** File name without the extension; prefixed to tool names that are already taken. */
  stem: string
  program: Program
  application: Application
  /** Names of existing tools. */
  taken: ReadonlySet<string>
}

/**
 * Exposes the endpoints of a program as tools. Names and schemas come from the program, annotations from its effect
 * analysis. If there are many, a few tools are listed for all of them.
 * @throws tool_name_taken
 */
export async function openProgramTools({stem, program, application, taken}: ProgramSource): Promise<Tool[]> {
  const [lang, {endpointSchemas}] = await Promise.all([import('../../lang/index.js'), import('./schemas.js')])
  const schemasOf = endpointSchemas(program)
  const endpoints = program.routes.filter(({kind}) => kind !== 'http')
  const names = new Set(taken)
  const tools = endpoints.map((route): EndpointTool => {
    const {function: endpoint} = route
    const name = freeName(endpoint.name, stem, names)
    names.add(name)
    const {input, output} = schemasOf(route)
    return {
      name,
      kind: route.kind as EndpointTool['kind'],
      tier: 'core',
      lane: 'data',
      input,
      listed: {
        name,
        description: endpoint.decl.doc ?? `The ${route.kind} ${endpoint.name} of ${stem}.`,
        inputSchema: input,
        outputSchema: envelopeSchema(output),
        annotations: {title: endpoint.name, ...effectsOf(lang, endpoint)},
      },
      call: async (args) => answerOf(endpoint, await callEndpoint(lang, application, endpoint, args)),
    }
  })
  return grouped(tools, stem, (wanted) => freeName(wanted, stem, names))
}

function freeName(name: string, stem: string, taken: ReadonlySet<string>): string {
  const prefixed = `${stem.replace(/\W+/g, '_')}_${name}`
  const free = [name, prefixed].find((each) => !taken.has(each))
  if (free === undefined) throw new SvcError('tool_name_taken', {endpoint: name, name: prefixed})
  return free
}

/** Inserting rows is not destructive; updating and deleting are. */
function effectsOf({reachable}: LangModule, endpoint: FunctionType) {
  const effects = [...reachable(endpoint)].flatMap((each) => each.effects)
  const writes = effects.filter(({kind}) => kind === 'write')
  const onlyAdds = writes.every(({what}) => /\.insert\(\)$/.test(what))
  const effect: Effect = writes.length === 0 ? 'read' : onlyAdds ? 'write' : 'destructive'
  return hintsOf(effect, {idempotent: effect === 'read', openWorld: false})
}

/** @throws params_invalid, endpoint_failed */
async function callEndpoint(
  lang: LangModule,
  application: Application,
  endpoint: FunctionType,
  input: Readonly<Record<string, unknown>>,
) {
  const args = readArguments(lang, endpoint, input)
  try {
    return await application.call(endpoint, args)
  } catch (thrown) {
    if (!(thrown instanceof lang.Failure)) throw thrown
    const {reason, message} = thrown
    throw new SvcError('endpoint_failed', {name: endpoint.name, reason, detail: message}, {cause: thrown})
  }
}

/** Decodes the arguments in parameter order. @throws params_invalid with all violations */
function readArguments(
  {decoder, TypeMismatch}: LangModule,
  endpoint: FunctionType,
  input: Readonly<Record<string, unknown>>,
) {
  const violations = Object.keys(input)
    .filter((name) => !endpoint.params.some((param) => param.name === name))
    .map((name) => `the document has an unknown member "${name}"`)
  const args = endpoint.params.map(({name, type, optional}) => {
    if (!Object.hasOwn(input, name)) {
      const isNeeded = !optional && type.kind !== 'option' && type.kind !== 'request'
      if (isNeeded) violations.push(`the document must have required property '${name}'`)
      return optional ? undefined : null
    }
    try {
      return decoder(type)(input[name])
    } catch (error) {
      if (!(error instanceof TypeMismatch)) throw error
      violations.push(`/${name} must be ${error.expected}`)
      return undefined
    }
  })
  if (violations.length > 0) throw new SvcError('params_invalid', {operation: endpoint.name, violations})
  return args
}

/** @throws endpoint_refused with the details if the endpoint returned a domain error */
async function answerOf({name}: FunctionType, {kind, value}: {kind: string; value: unknown}): Promise<Answer> {
  const {display, toJson} = await import('../../lang/index.js')
  if (kind === 'domain')
    throw new DetailedError(new SvcError('endpoint_refused', {name, detail: display(value)}), {details: toJson(value)})
  return {data: value === undefined ? undefined : toJson(value)}
}
