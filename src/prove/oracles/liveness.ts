import {examine, type Oracle} from './oracle.js'

/** The server ends when it is ended, and not by itself. */
export const staysAlive: Oracle = ({events}) =>
  examine(events, ({event}) =>
    event === 'died' ? {what: 'The server ended by itself; its log says more.', calls: []} : undefined,
  )
