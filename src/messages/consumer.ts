import {messageSettings, resolveSettings, type SettingSources} from '../config/index.js'

/** Who reads, and how much at once. */
export interface Consumer {
  readonly owner: string
  readonly limit: number
}

/** The consumer that this process is. @param warn told of variables that cannot be read */
export function consumerOf(sources: SettingSources, warn: (text: string) => void): Consumer {
  const {values, warnings} = resolveSettings(messageSettings, sources)
  for (const {message} of warnings) warn(`warning: ${message}`)
  const {consumerId, claimLimit} = values
  return {owner: consumerId ?? `pid:${process.pid}`, limit: claimLimit}
}
