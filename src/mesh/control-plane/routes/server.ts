import type {Handlers} from '../route.js'

/** What the control plane says of itself. */
export const serverRoutes: Handlers = {
  async metrics({reply}, {store, scope, metrics, waiters}) {
    const counts = await store.counts(scope)
    reply.type('text/plain; version=0.0.4; charset=utf-8')
    return metrics.render({...counts, storeDepth: store.depth, longPolls: waiters.waiting})
  },
}
