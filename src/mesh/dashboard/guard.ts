import type {FastifyReply, FastifyRequest} from 'fastify'
import {SvcError} from '../../errors/index.js'
import {isSameSecret} from '../../net/index.js'

/** Whether a request knows the address of the page, whose first part is the key. */
export const hasKey = ({params}: FastifyRequest, key: string): boolean =>
  isSameSecret((params as {key?: string}).key ?? '', key)

/**
 * Lets in what the page itself asks for, before a body is read. A request that changes something must name its origin,
 * as every browser does; and what a browser says of the site that a request comes from must agree.
 * @throws route_unknown without the key; origin_denied where another page asks
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
