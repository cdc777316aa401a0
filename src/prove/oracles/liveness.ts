import {checkEach, type Oracle, violation} from './oracle.js'

/** No program exits by itself, except one that the control plane has refused. */
export const programsStayUp: Oracle = ({events}) =>
  checkEach(events, ({event, who, exitCode}) => {
    if (event === 'died') return violation('The server exited unexpectedly; see its log for details.')
    return event === 'program_died' && violation(`${who} exited with the status ${exitCode}; see its log for details.`)
  })
