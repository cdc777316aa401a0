import type {SessionEvent} from '../speech/index.js'

/** The notice of an event that is not for clients. */
export function noticeOfSession(event: SessionEvent): string | undefined {
  switch (event.type) {
    case 'warning':
      return `warning: ${event.warning.message}`
    case 'gap':
      return `warning: The audio from ${event.fromSec.toFixed(1)} s to ${event.toSec.toFixed(1)} s was lost with the connection.`
    case 'connection':
      return event.isConnected ? 'Connected again.' : 'warning: The connection was lost; trying again.'
    default:
      return undefined
  }
}
