import {checkEach, combine, type Oracle, violation} from './oracle.js'

/** No log, database or response contains a secret, except the response to a bootstrap exchange. */
export const secretsStaySecret: Oracle = ({leaks, calls}) =>
  combine(
    checkEach(
      calls.filter(({status}) => status !== undefined),
      ({leaked, operation, id}) =>
        leaked !== undefined && violation(`A response to ${operation} contained a secret.`, id),
    ),
    {checked: 0, violations: leaks.map(({file, secret}) => violation(`${file} contains ${secret}.`))},
  )
