import {messageSettings, resolveSettings, type SettingSources} from '../config/index.js'

/** The reader of messages and its batch size. */
export interface Consumer {
  readonly owner: string
  readonly limit: number
}

/** The consumer of this process. @param warn receives warnings about invalid variables */
export function consumerOf(sources: SettingSources, warn: (text: string) => void): Consumer {
  const {values, warnings} = resolveSettings(messageSettings, sources)
  for (const {message} of warnings) warn(`warning: ${message}`)
  const {consumerId, claimLimit} = values
  return {owner: consumerId ?? `pid:${process.pid}`, limit: claimLimit}
}
