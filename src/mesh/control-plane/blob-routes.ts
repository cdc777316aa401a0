import {createHash, type Hash} from 'node:crypto'
import type {FastifyRequest} from 'fastify'
import {SvcError} from '../../errors/index.js'
import type {HttpApp} from '../../net/index.js'
import {must, readerOf} from '../protocol/member.js'
import {maxBlobBytes, sha256} from '../protocol/remote-task.js'
import type {ControlPlaneContext} from './context.js'
import {type Handlers, serveRoutes} from './route.js'

/** Maximum number of concurrent transfers, each of which may hold a whole file in memory. */
const maxTransfers = 16

/** Digest of a request body, updated while the body arrives. */
const digests = new WeakMap<FastifyRequest, Hash>()

const readPath = readerOf({sha256: must(sha256)})

/** Files of delegated tasks. */
const blobRoutes: Handlers = {
  async blob_put({body, params, reply}, {store, scope}) {
    const {sha256} = readPath(params)
    // The framework accepts an empty body without a content type.
    if (!Buffer.isBuffer(body)) throw new SvcError('media_type_unsupported', {})
    const found = digests.get(reply.request)?.digest('hex') ?? ''
    if (found !== sha256) throw new SvcError('blob_damaged', {sha256, found})
    await store.putBlob(scope, {sha256, bytes: body})
    return undefined
  },

  async blob_get({params, reply}, {store, scope}) {
    const bytes = await store.getBlob(scope, readPath(params).sha256)
    reply.type('application/octet-stream')
    return bytes
  },
}

/** Registers the routes in a part of the app with its own content type and size limit. */
export function serveBlobs(parent: HttpApp, context: ControlPlaneContext): void {
  let transfers = 0
  parent.register(async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('application/octet-stream', {parseAs: 'buffer'}, (_request, body, done) =>
      done(null, body),
    )
    app.addHook('onRoute', (route) => {
      route.bodyLimit = maxBlobBytes
    })
    // Runs after the guard, so that only permitted requests count.
    app.addHook('preParsing', (request, reply, payload, done) => {
      if (transfers >= maxTransfers)
        return done(new SvcError('overloaded', {reason: 'Too many files are being transferred.'}))
      transfers++
      reply.raw.once('close', () => {
        transfers--
      })
      const hash = createHash('sha256')
      digests.set(request, hash)
      payload.on('data', (piece: Buffer) => hash.update(piece))
      done(null, payload)
    })
    serveRoutes(app, context, blobRoutes)
  })
}
