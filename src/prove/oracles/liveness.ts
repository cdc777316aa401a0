import {checkEach, type Oracle, violation} from './oracle.js'

export const serverStaysUp: Oracle = ({events}) =>
  checkEach(
    events,
    ({event}) => event === 'died' && violation('The server exited unexpectedly; see its log for details.'),
  )
