import type {GetPromptResult, Server} from '@modelcontextprotocol/server'
import {SvcError} from '../errors/index.js'
import type {AskingRequests} from './asking-request.js'
import {callHooks} from './call-hooks.js'
import {type Completable, complete} from './completion.js'
import {listPrompt, type PromptRow, prompts, writePrompt} from './prompts.js'
import {answering} from './protocol-error.js'
import {resourceTemplates} from './resources/list.js'
import type {RunningRequests} from './running-requests.js'
import type {ServerParts} from './server-parts.js'

/** Source of the completions of each resource template argument. */
const templateArguments: Readonly<Record<string, Completable>> = {id: 'task', session_id: 'chat'}

/** Handles `prompts/*` and `completion/*` requests. */
export function handlePrompts(
  server: Server,
  {host, prompts: more = []}: ServerParts,
  {running, requests}: {running: RunningRequests; requests: AskingRequests},
): void {
  const rows = [...prompts, ...more]
  server.setRequestHandler('prompts/list', () => ({prompts: rows.map(listPrompt)}))
  server.setRequestHandler(
    'prompts/get',
    ({params}, context) =>
      requests.perform(`prompt ${params.name}`, context, async (call) => {
        const {client} = callHooks(requests.callerOf(call))
        const writer = {open: () => host.open(), client}
        const {description, content} = await writePrompt(rows, params.name, params.arguments ?? {}, writer)
        return {description, messages: content.map((part) => ({role: 'user' as const, content: part}))}
      }) as Promise<GetPromptResult>,
  )
  server.setRequestHandler('completion/complete', ({params: {ref, argument}}) =>
    answering(running, async () => {
      const kind =
        ref.type === 'ref/resource'
          ? completableOfTemplate(ref.uri, argument.name)
          : completableOfPrompt(rows, ref.name, argument.name)
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
function completableOfPrompt(rows: readonly PromptRow[], name: string, argument: string): Completable | undefined {
  const prompt = rows.find((row) => row.name === name)
  if (prompt === undefined) throw new SvcError('prompt_invalid', {name, fault: 'the prompt does not exist'})
  return prompt.arguments.find((row) => row.name === argument)?.completes
}
