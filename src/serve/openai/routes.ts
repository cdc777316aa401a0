import {SvcError} from '../../errors/index.js'
import type {HttpApp} from '../../net/index.js'
import {answer} from '../answer.js'
import type {ServeContext} from '../context.js'
import {refuseRoute} from '../reply.js'
import {chatCompletions, completions} from './dialects.js'
import {modelEntry, modelList} from './model.js'

/** The routes of the OpenAI API. */
export function openaiRoutes(app: HttpApp, context: ServeContext): void {
  const {models, otherModels, promptBodyLimit: bodyLimit} = context
  app.get('/v1/models', async () => modelList([...(await models.list()).map(modelEntry), ...(await otherModels())]))
  app.get<{Params: {id: string}}>('/v1/models/:id', async ({params: {id}}) => {
    const other = (await otherModels()).find((entry) => entry.id === id)
    const found = await models.find(id).catch((error: unknown) => {
      if (other === undefined) throw error
      return undefined
    })
    return found === undefined ? other : modelEntry(found.served)
  })
  app.post('/v1/chat/completions', {bodyLimit}, (request, reply) => answer(context, chatCompletions, request, reply))
  app.post('/v1/completions', {bodyLimit}, (request, reply) => answer(context, completions, request, reply))
  refuseRoute(
    app,
    '/v1/embeddings',
    () => new SvcError('unsupported_value', {reason: 'this server does not support embeddings', param: 'input'}),
  )
}
