import {clearDecision} from '../contracts/index.js'
import type {OperationContext} from './context.js'

/** Whether the person behind a caller clearly agrees; no if the caller cannot ask. A model never agrees for a person. */
export async function isConfirmed({ask}: Pick<OperationContext, 'ask'>, message: string): Promise<boolean> {
  const schema = {type: 'object', properties: {confirm: {type: 'boolean', title: message}}, required: ['confirm']}
  const answer = await ask?.({message, schema})
  return clearDecision(answer?.confirm) === true
}
