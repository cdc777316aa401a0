import {SvcError} from '../../errors/index.js'
import type {HttpApp} from '../../net/index.js'
import {answer} from '../answer.js'
import {isOfAnthropic, modelInfo, modelInfos} from '../anthropic/model.js'
import type {ServeContext} from '../context.js'
import {refuseRoute} from '../reply.js'
import {responses} from '../responses/dialect.js'
import {chatCompletions, completions} from './dialects.js'
import {codexModelList, modelEntry, modelList} from './model.js'

/** The routes of the OpenAI API. */
export function openaiRoutes(app: HttpApp, context: ServeContext): void {
  const {promptBodyLimit: bodyLimit} = context
  modelRoutes(app, context)
  app.post('/v1/chat/completions', {bodyLimit}, (request, reply) => answer(context, chatCompletions, request, reply))
  app.post('/v1/responses', {bodyLimit}, (request, reply) => answer(context, responses, request, reply))
  app.post('/v1/completions', {bodyLimit}, (request, reply) => answer(context, completions, request, reply))
  refuseRoute(
    app,
    '/v1/embeddings',
    () => new SvcError('unsupported_value', {reason: 'this server does not support embeddings', param: 'input'}),
  )
}

/** The routes of models, in the form of the client: OpenAI's, Anthropic's, or that of Codex, which states its version. */
function modelRoutes(app: HttpApp, {models, otherModels}: ServeContext): void {
  app.get<{Querystring: {client_version?: string}}>('/v1/models', async ({headers, query}) => {
    const entries = [...(await models.list()).map(modelEntry), ...(await otherModels())]
    if (isOfAnthropic(headers)) return modelInfos(entries)
    return query.client_version === undefined ? modelList(entries) : codexModelList(entries)
  })
  app.get<{Params: {id: string}}>('/v1/models/:id', async ({headers, params: {id}}) => {
    const other = (await otherModels()).find((entry) => entry.id === id)
    const found = await models.find(id).catch((error: unknown) => {
      if (other === undefined) throw error
      return undefined
    })
    const entry = found === undefined ? other : modelEntry(found.served)
    return entry !== undefined && isOfAnthropic(headers) ? modelInfo(entry) : entry
  })
}
