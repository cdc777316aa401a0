/**
 * HTTP: a server app factory (limits, request ids, errors in the dialect of the route, streams) and a client
 * (typed errors, timeouts, retries).
 */
export {type AppOptions, createApp, type HttpApp, type Listening, listen, type TlsOptions} from './app.js'
export {bearerToken, hasBearerToken, hasProtocolToken, isSameSecret, selectProtocol} from './bearer.js'
export {
  createHttpClient,
  type HttpClient,
  type HttpClientOptions,
} from './client.js'
export {clientGone} from './client-gone.js'
export type {DirectRoute, DirectRoutes} from './direct.js'
export {isExposed, listenFailure, minTokenLength, missingForRemote} from './exposure.js'
export {freePort} from './free-port.js'
export {isLoopback} from './loopback.js'
export {type MetricFamily, metricsText, metricsType} from './metrics.js'
export {createRateLimit, type Rate, type RateLimit} from './rate-limit.js'
export {eventStream, ndjsonStream, type ReplyStream, sseFrame, sseStream, typedEventStream} from './stream.js'
export {streamEvents} from './stream-events.js'
export {readTlsFiles} from './tls-files.js'
export {connectionFault, trustAuthorities, trustOptions} from './trust.js'
