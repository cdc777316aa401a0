import type {AssistantTools} from '../assistant/index.js'
import {SvcError} from '../errors/index.js'
import {listedSchema} from './bindings.js'
import {isConfirmed} from './confirmation.js'
import type {OperationContext} from './context.js'
import type {Operation} from './operation.js'
import {createCall} from './perform.js'
import {ToolAnswer} from './tool-answer.js'

/**
 * The operations that a model may call while it answers: the tools that are listed by default, without those that contact
 * anything outside the workspace, such as a model. Those with effects need a person who confirms each call, so they are offered
 * only to callers that can ask.
 */
export function assistantTools(table: readonly Operation[], context: OperationContext): AssistantTools {
  const callable = table.flatMap((operation) => {
    const {effect, openWorld, bindings} = operation
    const {tool: binding} = bindings
    if (binding?.tier !== 'core' || openWorld === true) return []
    if (effect !== 'read' && context.ask === undefined) return []
    return [{operation, binding, call: createCall(operation, binding.name, binding)}]
  })
  return {
    tools: callable.map(({operation, binding, call}) => ({
      name: binding.name,
      description: operation.summary,
      parameters: listedSchema(call.schema, binding.unlisted),
    })),
    async call({name, arguments: values}) {
      const {signal} = context
      signal.throwIfAborted()
      const found = callable.find(({binding}) => binding.name === name)
      try {
        if (found === undefined) throw new SvcError('unknown_tool', {name, suggestion: undefined})
        const {operation, binding, call} = found
        if (operation.effect !== 'read' && !(await isConfirmed(context, questionOf(operation.title, values))))
          return {text: JSON.stringify({error: {message: 'The person did not confirm this call.'}}), ok: false}
        const result = await call.perform(values, {...context, report: () => undefined})
        const shown = binding.present === undefined ? result : await binding.present(result as never, context)
        return {text: JSON.stringify(shown instanceof ToolAnswer ? shown.data : shown), ok: true}
      } catch (error) {
        signal.throwIfAborted()
        const {code, message, hint} = SvcError.from(error)
        return {text: JSON.stringify({error: {code, message, remediation: hint}}), ok: false}
      }
    },
  }
}

const questionOf = (title: string, values: object): string =>
  `The model wants to call "${title}" with ${JSON.stringify(values)}. Allow it?`
