import type {FastifyReply, FastifyRequest} from 'fastify'
import {SvcError} from '../../errors/index.js'
import {isSameSecret} from '../../net/index.js'

/** True if the first path segment of a request is the secret key of the page. */
export const hasKey = ({params}: FastifyRequest, key: string): boolean =>
  isSameSecret((params as {key?: string}).key ?? '', key)

/**
 * Admits only requests of the page itself, before a body is read. A POST must have an Origin header, which every
 * browser sends. A Sec-Fetch-Site header must be same-origin.
 * @throws route_unknown without the key; origin_denied for requests of other pages
 */
export const demandOwnPage =
  (key: string) =>
  (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    const {method, url, headers} = request
    if (!hasKey(request, key)) throw new SvcError('route_unknown', {method, path: url.split('?')[0] ?? url})
    const {host, origin, 'sec-fetch-site': site} = headers
    const isOwn = origin === undefined ? method === 'GET' : origin.toLowerCase() === `http://${host}`.toLowerCase()
    if (!isOwn || (site !== undefined && site !== 'same-origin'))
      throw new SvcError('origin_denied', {origin: origin ?? 'an unknown origin'})
    done()
  }
