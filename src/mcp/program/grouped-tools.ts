import {nearest, SvcError} from '../../errors/index.js'
import {listTool} from '../list-tool.js'
import {hintsOf} from '../operation-tool.js'
import type {Tool} from '../tool.js'

export interface EndpointTool extends Tool {
  kind: 'query' | 'mutation' | 'server'
}

/** Maximum size of a list of endpoints, bytes: about 2,000 tokens. Models read it before every conversation. */
const maxListLength = 7000
/** Maximum size of the names of endpoints in a description, bytes. */
const maxNamesLength = 5000

/**
 * The tools of a program. If their list is too long, they can still be called, but are not listed. Instead, one tool
 * per kind of endpoint calls them by name, and another one describes them.
 * @param freeName returns a name that no tool has
 */
export function grouped(tools: readonly EndpointTool[], stem: string, freeName: (wanted: string) => string): Tool[] {
  if (JSON.stringify(tools.map(listTool)).length <= maxListLength) return [...tools]
  const prefix = stem.replace(/\W+/g, '_')
  const kinds = (['query', 'mutation', 'server'] as const).filter((kind) => tools.some((tool) => tool.kind === kind))
  const describe = freeName(`${prefix}_describe`)
  return [
    ...tools.map((tool) => ({...tool, isGrouped: true as const})),
    describeTool(tools, {name: describe, stem}),
    ...kinds.map((kind) =>
      callTool(
        tools.filter((tool) => tool.kind === kind),
        {name: freeName(`${prefix}_${kind}`), stem, kind, describe},
      ),
    ),
  ]
}

/** Returns descriptions and schemas of endpoints. */
function describeTool(tools: readonly EndpointTool[], {name, stem}: {name: string; stem: string}): Tool {
  const input = {
    type: 'object',
    properties: {names: {type: 'array', items: {type: 'string'}}},
    additionalProperties: false,
  }
  return {
    name,
    tier: 'core',
    lane: 'data',
    input,
    listed: {
      name,
      description: `Describes endpoints of ${stem} with their arguments and results; without names, lists all.`,
      inputSchema: input,
      annotations: {title: `Describe ${stem}`, ...hintsOf('read', {idempotent: true})},
    },
    async call({names}) {
      if (names === undefined) return {data: tools.map((tool) => ({name: tool.name, kind: tool.kind}))}
      if (!Array.isArray(names)) throw invalid(name, '/names must be an array')
      return {data: names.map((each) => listTool(endpointNamed(tools, String(each))))}
    },
  }
}

interface Group {
  name: string
  stem: string
  kind: EndpointTool['kind']
  /** Name of the tool that describes the endpoints. */
  describe: string
}

/** Calls any endpoint of a kind. */
function callTool(tools: readonly EndpointTool[], {name, stem, kind, describe}: Group): Tool {
  const input = {
    type: 'object',
    properties: {name: {type: 'string'}, arguments: {type: 'object'}},
    required: ['name'],
    additionalProperties: false,
  }
  return {
    name,
    tier: 'core',
    lane: 'data',
    input,
    listed: {
      name,
      description: `Calls a ${kind} of ${stem}; ${describe} shows its arguments. ${namesOf(tools)}`,
      inputSchema: input,
      annotations: {title: `Call a ${kind} of ${stem}`, ...hintsOf(effectOf(tools), {idempotent: false})},
    },
    async call({name: endpoint, arguments: args = {}}, host, hooks) {
      if (typeof endpoint !== 'string') throw invalid(name, '/name must be a string')
      if (typeof args !== 'object' || args === null) throw invalid(name, '/arguments must be an object')
      return endpointNamed(tools, endpoint).call(args as Readonly<Record<string, unknown>>, host, hooks)
    },
  }
}

/** The strongest effect of some endpoints. */
function effectOf(tools: readonly EndpointTool[]) {
  const hints = tools.map(({listed}) => listed.annotations)
  if (hints.every(({readOnlyHint}) => readOnlyHint)) return 'read'
  return hints.some(({destructiveHint}) => destructiveHint) ? 'destructive' : 'write'
}

/** As many names as fit; the others can be listed. */
function namesOf(tools: readonly EndpointTool[]): string {
  const names = tools.map(({name}) => name)
  let size = 0
  const shown = names.filter((name) => {
    size += name.length + 2
    return size <= maxNamesLength
  })
  const rest = names.length - shown.length
  return `Names: ${shown.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}.`
}

const invalid = (operation: string, violation: string) =>
  new SvcError('params_invalid', {operation, violations: [violation]})

/** @throws unknown_tool */
function endpointNamed(tools: readonly EndpointTool[], name: string): EndpointTool {
  const found = tools.find((tool) => tool.name === name)
  if (found !== undefined) return found
  throw new SvcError('unknown_tool', {
    name,
    suggestion: nearest(
      name,
      tools.map((tool) => tool.name),
    ),
  })
}
