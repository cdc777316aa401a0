import {promisify} from 'node:util'
import {constants, gzip} from 'node:zlib'
import type {FastifyReply} from 'fastify'

/** Size from which a body is compressed, bytes. */
const minCompressed = 4096

const compress = promisify(gzip)

/** JSON with a weak entity tag, which identifies everything in it except the time. */
export interface Cacheable {
  body: Buffer
  etag: string
}

/**
 * Returns the body, compressed if the client accepts that and it is large, or sets the status 304 if the client already
 * has it.
 */
export async function cacheable(reply: FastifyReply, {body, etag}: Cacheable): Promise<Buffer | undefined> {
  const {'if-none-match': known = '', 'accept-encoding': encodings = ''} = reply.request.headers
  reply.headers({etag, vary: 'accept-encoding'})
  if (known.split(',').some((tag) => ['*', etag, etag.slice(2)].includes(tag.trim()))) {
    reply.code(304)
    return undefined
  }
  if (body.length < minCompressed || !acceptsGzip(String(encodings))) return body
  reply.header('content-encoding', 'gzip')
  return compress(body, {level: constants.Z_BEST_SPEED})
}

const acceptsGzip = (encodings: string): boolean =>
  encodings.split(',').some((encoding) => {
    const [name, quality = ''] = encoding.split(';').map((part) => part.trim().toLowerCase())
    return name === 'gzip' && !/^q=0(\.0*)?$/.test(quality)
  })
