import {checkEach, combine, type Oracle, violation} from './oracle.js'

/** No secret stands in a log, in the database or in an answer, but for the one that an exchange is for. */
export const secretsStaySecret: Oracle = ({leaks, calls}) =>
  combine(
    checkEach(
      calls.filter(({status}) => status !== undefined),
      ({leaked, operation, id}) => leaked !== undefined && violation(`An answer to ${operation} held a secret.`, id),
    ),
    {checked: 0, violations: leaks.map(({file, secret}) => violation(`${file} holds ${secret}.`))},
  )
