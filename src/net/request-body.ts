import {isUtf8} from 'node:buffer'
import type {FastifyInstance, FastifyRequest} from 'fastify'
import {SvcError} from '../errors/index.js'
import {LargeBodies} from './large-bodies.js'

const json = 'application/json'

/**
 * Makes every body JSON whatever its content type says (curl's default is that of a form), unless a parser was added
 * for that type. An empty body is undefined.
 */
export function readBodiesAsJson(app: FastifyInstance): void {
  readJsonBodies(app)
  app.addHook('onRequest', async ({headers}: FastifyRequest) => {
    const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
    if (type === undefined || !app.hasContentTypeParser(type)) headers['content-type'] = json
  })
}

/**
 * Parses bodies that say they are JSON; other content types are refused where there is a body. An empty body is
 * undefined.
 */
export function readJsonBodies(app: FastifyInstance): void {
  readBodies(app, parse)
}

/** Hands JSON bodies on as text, unread; other content types are refused where there is a body. */
export function readBodiesAsText(app: FastifyInstance): void {
  readBodies(app, textOf)
}

/** @param read may throw an error of the catalogue */
function readBodies(app: FastifyInstance, read: (body: Buffer) => unknown): void {
  const large = new LargeBodies()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>(json, {parseAs: 'buffer'}, ({raw}, body, done) => {
    const handle = () => {
      let value: unknown
      try {
        value = read(body)
      } catch (error) {
        return done(error as SvcError)
      }
      // Runs the handler of the route up to where it waits.
      done(null, value)
    }
    if (body.length < LargeBodies.from) handle()
    else large.add({bytes: body.length, handle, isGone: () => raw.socket.destroyed, refuse: done})
  })
}

/** @throws invalid_json */
function parse(body: Buffer): unknown {
  if (body.length === 0) return undefined
  const text = textOf(body)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SvcError('invalid_json', {reason: withoutExcerpt((error as Error).message)})
  }
}

/** @throws invalid_json where it is not UTF-8 */
function textOf(body: Buffer): string {
  const text = body.toString('utf8')
  // Whatever is not UTF-8 is read as this character. Most texts have no room for it, and are not looked at again.
  if (text.includes('\uFFFD') && !isUtf8(body)) throw new SvcError('invalid_json', {reason: 'it is not UTF-8'})
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** The parser shows what stands around a fault, which may be a part of a secret. */
const withoutExcerpt = (message: string) => message.replace(/, (\.\.\.)?".*$/s, '')
