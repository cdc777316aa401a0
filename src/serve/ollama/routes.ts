import {SvcError} from '../../errors/index.js'
import type {HttpApp} from '../../net/index.js'
import {answer} from '../answer.js'
import type {ServeContext} from '../context.js'
import {refuseRoute} from '../reply.js'
import {chat, generate} from './dialects.js'
import {managementRoutes} from './management.js'
import {ps, readShow, show, tags, version} from './model.js'

export function ollamaRoutes(app: HttpApp, context: ServeContext): void {
  const {models, product, device, promptBodyLimit: bodyLimit} = context
  app.get('/api/version', async () => version(product, device))
  app.get('/api/tags', async () => tags(await models.list()))
  app.get('/api/ps', async () => {
    const loaded = models.loaded.map(({served: model, loaded: {expiresAt} = {expiresAt: new Date()}}) => ({
      model,
      device,
      expiresAt,
    }))
    // Adapters leave the memory with their model at the latest.
    const {expiresAt = 'forever'} = models.first?.loaded ?? {}
    const adapters = (await models.loadedAdapters()).map((model) => ({model, device, expiresAt}))
    return ps([...loaded, ...adapters])
  })
  app.post('/api/show', async ({body}) => {
    const {name, verbose} = readShow(body)
    return show((await models.find(name)).served, {verbose})
  })
  app.post('/api/chat', (request, reply) => answer(context, chat, request, reply))
  app.post('/api/generate', {bodyLimit}, (request, reply) => answer(context, generate, request, reply))
  managementRoutes(app, context)
  refuseRoute(app, '/api/embeddings', () => new SvcError('not_implemented', {what: 'embeddings are'}))
  refuseRoute(app, '/api/embed', () => new SvcError('bad_request', {reason: 'this server does not support embeddings'}))
}
