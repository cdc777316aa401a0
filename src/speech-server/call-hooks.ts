import {logger} from '../log/index.js'
import type {CallHooks} from '../speech/index.js'

/** Hooks of a transcription for a request, whose notices are logged. @param id of the request */
export const callHooks = (id: string, signal: AbortSignal): CallHooks => ({
  signal,
  report: () => undefined,
  notice: (text) => logger('speech_server').info({id}, text),
})
