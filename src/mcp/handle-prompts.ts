import type {Server} from '@modelcontextprotocol/server'
import {SvcError} from '../errors/index.js'
import {type Completable, complete} from './completion.js'
import {listedPrompts, prompts, writePrompt} from './prompts.js'
import {answering} from './protocol-error.js'
import {resourceTemplates} from './resources/list.js'
import type {RunningRequests} from './running-requests.js'
import type {ServerParts} from './server-parts.js'

/** Source of the completions of each resource template argument. */
const templateArguments: Readonly<Record<string, Completable>> = {id: 'task', session_id: 'chat'}

/** Handles `prompts/*` and `completion/*` requests. */
export function handlePrompts(server: Server, {host}: ServerParts, running: RunningRequests): void {
  server.setRequestHandler('prompts/list', () => ({prompts: [...listedPrompts]}))
  server.setRequestHandler('prompts/get', ({params}) =>
    answering(running, async () => {
      const {description, content} = await writePrompt(params.name, params.arguments ?? {}, () => host.open())
      return {description, messages: content.map((part) => ({role: 'user' as const, content: part}))}
    }),
  )
  server.setRequestHandler('completion/complete', ({params: {ref, argument}}) =>
    answering(running, async () => {
      const kind =
        ref.type === 'ref/resource'
          ? completableOfTemplate(ref.uri, argument.name)
          : completableOfPrompt(ref.name, argument.name)
      if (kind === undefined) return {completion: {values: [], total: 0, hasMore: false}}
      return {completion: {...(await complete(await host.open(), kind, argument.value))}}
    }),
  )
}

/** @throws resource_not_found */
function completableOfTemplate(uri: string, argument: string): Completable | undefined {
  if (!resourceTemplates.some(({uriTemplate}) => uriTemplate === uri)) throw new SvcError('resource_not_found', {uri})
  return templateArguments[argument]
}

/** @throws prompt_invalid */
function completableOfPrompt(name: string, argument: string): Completable | undefined {
  const prompt = prompts.find((row) => row.name === name)
  if (prompt === undefined) throw new SvcError('prompt_invalid', {name, fault: 'the prompt does not exist'})
  return prompt.arguments.find((row) => row.name === argument)?.completes
}
