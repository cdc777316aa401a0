import {clientGone, type HttpApp} from '../../net/index.js'
import {requireAbilities} from '../abilities.js'
import {answer} from '../answer.js'
import {requestedModel, type ServeContext} from '../context.js'
import {messages} from './dialect.js'
import {readMessagesRequest} from './request.js'

/** The routes of the Messages API of Anthropic. */
export function anthropicRoutes(app: HttpApp, context: ServeContext): void {
  const {models, promptBodyLimit: bodyLimit} = context
  app.post('/v1/messages', {bodyLimit}, (request, reply) => answer(context, messages, request, reply))
  app.post('/v1/messages/count_tokens', {bodyLimit}, async ({body}, reply) => {
    const host = await models.find(requestedModel(body))
    const {request, requires} = readMessagesRequest(body, host.requestDefaults)
    requireAbilities(host.served, requires)
    const gone = clientGone(reply)
    const admission = await host.admit(gone)
    try {
      return {input_tokens: await admission.countTokens(request, gone)}
    } finally {
      admission.release()
    }
  })
}
