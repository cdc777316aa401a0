import {examine, type Oracle, together} from './oracle.js'

/** No secret stands in a log, in the database or in an answer, but for the one that an exchange is for. */
export const secretsStaySecret: Oracle = ({leaks, calls}) =>
  together(
    examine(
      calls.filter(({status}) => status !== undefined),
      ({leaked, operation, id}) =>
        leaked === undefined ? undefined : {what: `An answer to ${operation} held a secret.`, calls: [id]},
    ),
    {checked: 0, violations: leaks.map(({file, secret}) => ({what: `${file} holds ${secret}.`, calls: []}))},
  )
