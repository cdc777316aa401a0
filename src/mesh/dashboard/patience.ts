import type {CallOptions} from '../client/requests.js'

/** Somebody looks on: a request is sent once, and what became of it is shown soon. */
export const once: CallOptions = {retry: false, timeoutMs: 5000}
