import {external} from './daemon.js'

export const ping = (id: string | number) => ({jsonrpc: '2.0', id, method: 'orch.ping'})
export const submit = (id: string | number, description = 'work') => ({
  jsonrpc: '2.0',
  id,
  method: 'orch.submit_task',
  params: external(description),
})
/** Task that a daemon runs. */
export const say = {description: 'say it', processor: 'exec', exec: {template: 'say', params: {word: 'hello'}}}
