import {isUtf8} from 'node:buffer'
import type {FastifyInstance, FastifyRequest} from 'fastify'
import {SvcError} from '../errors/index.js'
import {LargeBodies} from './large-bodies.js'

const json = 'application/json'

/** Parses the text of a body, which is not empty. @throws SyntaxError */
export type ParseJson = (text: string) => unknown

/**
 * Parses every body as JSON, regardless of its content type (curl sends that of a form by default), unless a parser was
 * added for the type. An empty body is undefined.
 */
export function readBodiesAsJson(app: FastifyInstance, parseJson: ParseJson): void {
  readJsonBodies(app, parseJson)
  app.addHook('onRequest', async ({headers}: FastifyRequest) => {
    const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
    if (type === undefined || !app.hasContentTypeParser(type)) headers['content-type'] = json
  })
}

/**
 * Parses bodies with the JSON content type and refuses others. An empty body is undefined.
 */
export function readJsonBodies(app: FastifyInstance, parseJson: ParseJson): void {
  readBodies(app, (body) => parse(body, parseJson))
}

/** Passes bodies with the JSON content type on as text and refuses others. */
export function readBodiesAsText(app: FastifyInstance): void {
  readBodies(app, textOf)
}

/** @param read may throw a catalogue error */
function readBodies(app: FastifyInstance, read: (body: Buffer) => unknown): void {
  const large = new LargeBodies()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>(json, {parseAs: 'buffer'}, ({raw, headers}, body, done) => {
    const encoding = headers['content-encoding']
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
      return done(new SvcError('media_type_unsupported', {encoding}))
    const handle = () => {
      let value: unknown
      try {
        value = read(body)
      } catch (error) {
        return done(error as SvcError)
      }
      // Runs the route handler synchronously up to its first await.
      done(null, value)
    }
    if (body.length < LargeBodies.from) handle()
    else large.add({bytes: body.length, handle, isGone: () => raw.socket.destroyed, refuse: done})
  })
}

/** @throws invalid_json */
function parse(body: Buffer, parseJson: ParseJson): unknown {
  if (body.length === 0) return undefined
  const text = textOf(body)
  try {
    return parseJson(text)
  } catch (error) {
    throw new SvcError('invalid_json', {reason: withoutExcerpt((error as Error).message)})
  }
}

/** @throws invalid_json if the body is not UTF-8 */
export function textOf(body: Buffer): string {
  const text = body.toString('utf8')
  // Invalid UTF-8 is decoded to this character. Texts without it need no further check.
  if (text.includes('\uFFFD') && !isUtf8(body)) throw new SvcError('invalid_json', {reason: 'it is not UTF-8'})
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** Removes the excerpt from a parser message, because it may contain part of a secret. */
const withoutExcerpt = (message: string) => message.replace(/, (\.\.\.)?".*$/s, '')
