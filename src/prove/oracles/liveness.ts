import {checkEach, type Oracle, violation} from './oracle.js'

/** The server ends when it is ended, and not by itself. */
export const serverStaysUp: Oracle = ({events}) =>
  checkEach(events, ({event}) => event === 'died' && violation('The server ended by itself; its log says more.'))
