import {
  createCall,
  type Effect,
  listedSchema,
  type Operation,
  ToolAnswer,
  type ToolBinding,
} from '../operations/index.js'
import type {Answer} from './envelope.js'
import {listedOutput} from './listed-output.js'
import type {Hints, Tool} from './tool.js'

/** Creates the tool of an operation; undefined if the operation has no tool binding. */
export function operationTool(operation: Operation): Tool | undefined {
  const {tool: binding} = operation.bindings
  if (binding === undefined) return undefined
  const call = createCall(operation, binding.name, binding)
  const outputSchema = listedOutput(binding.output ?? operation.output, call.schema)
  return {
    name: binding.name,
    tier: binding.tier,
    lane: binding.lane,
    ...(binding.task === undefined ? {} : {task: binding.task}),
    input: call.schema,
    listed: {
      name: binding.name,
      description: operation.summary,
      inputSchema: listedSchema(call.schema, binding.unlisted),
      ...(outputSchema === undefined ? {} : {outputSchema}),
      annotations: {title: operation.title, ...hintsOf(operation.effect, operation)},
      ...(binding.task === undefined ? {} : {execution: {taskSupport: 'optional'}}),
    },
    async call(args, host, hooks) {
      const context = {...(await host.open()), ...hooks}
      const result = await call.perform(args, context)
      return asAnswer(binding.present === undefined ? result : await present(binding, result, context))
    },
  }
}

/** Hints that clients use to decide whether a call needs consent. A missing `idempotentHint` is false. */
export const hintsOf = (
  effect: Effect,
  {idempotent, openWorld = false}: {idempotent: boolean; openWorld?: boolean},
): Hints => ({
  readOnlyHint: effect === 'read',
  ...(effect === 'read' ? {} : {destructiveHint: effect === 'destructive'}),
  ...(effect !== 'read' && idempotent ? {idempotentHint: true} : {}),
  openWorldHint: openWorld,
})

const asAnswer = (result: unknown): Answer =>
  result instanceof ToolAnswer ? {data: result.data, meta: result.meta} : {data: result}

const present = (
  {present: shape}: ToolBinding,
  data: unknown,
  context: Parameters<NonNullable<ToolBinding['present']>>[1],
) => shape?.(data as never, context)
