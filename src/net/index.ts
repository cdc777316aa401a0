/**
 * HTTP on both sides: an app factory (limits, request ids, errors in the dialect of the route, streams) and a client
 * (typed errors, time limits, retries).
 */
export {type AppOptions, createApp, type HttpApp, type Listening, listen} from './app.js'
export {
  createHttpClient,
  type HttpClient,
  type HttpClientOptions,
  type HttpRequest,
  type HttpResponse,
} from './client.js'
export {isLoopback} from './loopback.js'
export {ndjsonStream, type ReplyStream, sseStream} from './stream.js'
