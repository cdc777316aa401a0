import type {IncomingHttpHeaders} from 'node:http'
import {SvcError} from '../errors/index.js'
import type {HttpApp} from '../net/index.js'
import type {KnownAdapter} from './adapter-catalog.js'
import {Fields} from './body.js'
import {holdsKey} from './clients.js'
import type {ServeContext} from './context.js'

/** Lists, adds and removes adapters. Changes require the admin key. */
export function adapterRoutes(app: HttpApp, {models}: ServeContext, adminKey: string | undefined): void {
  app.get('/api/adapters', async () => {
    const resident = new Map((await models.residentAdapters()).map(({key, bytes}) => [key, bytes]))
    return {adapters: models.adapters.map((known) => entryOf(known, resident.get(known.source.key)))}
  })
  app.post('/api/adapters', async ({headers, body}, reply) => {
    requireAdmin(headers, adminKey)
    const fields = Fields.ofBody(body)
    const name = fields.string('name')
    if (!name) throw new SvcError('bad_request', {reason: 'name is required', param: 'name'})
    const {added, isNew} = await models.addAdapter(name, fields.string('path') || name)
    return reply.code(isNew ? 201 : 200).send(entryOf(added, undefined))
  })
  app.delete<{Params: {name: string}}>('/api/adapters/:name', async ({headers, params: {name}}) => {
    requireAdmin(headers, adminKey)
    await models.removeAdapter(name)
    return {status: 'success'}
  })
}

/** @throws adapters_read_only, unauthorized */
function requireAdmin(headers: IncomingHttpHeaders, adminKey: string | undefined): void {
  if (adminKey === undefined) throw new SvcError('adapters_read_only', {})
  if (!holdsKey(headers, adminKey)) throw new SvcError('unauthorized', {})
}

const entryOf = ({source: {name, isPinned}, digest, bytes, modifiedAt}: KnownAdapter, memory: number | undefined) => ({
  name,
  digest,
  size: bytes,
  modified_at: modifiedAt.toISOString(),
  pinned: isPinned,
  loaded: memory !== undefined,
})
