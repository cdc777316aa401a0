/** Actions of the page, each with a confirmation. */
import {ask as openDialog} from '../../../../pages/parts/dialog.js'
import {request} from '../../../../pages/parts/request.js'

/** The form of an action that can end by itself. */
const limited = {
  properties: {
    minutes: {type: 'integer', minimum: 1, maximum: 10_080, description: 'Duration. Without one, it has no limit.'},
  },
}

/** Opens the dialog. @param question texts and request of the action */
export const ask = ({path, body, takesMinutes, ...question}) =>
  openDialog({
    ...question,
    schema: takesMinutes ? limited : undefined,
    perform: (values) => request(`/api/${path}`, {body: {...body, ...values}}),
  })

export const quarantineOf = (id, on) => ({
  path: 'quarantine',
  body: {node_id: id, quarantined: on},
  isDangerous: on,
  title: on ? `Put ${id} in quarantine?` : `End the quarantine of ${id}?`,
  text: on
    ? 'It gets no leases and no messages and cannot renew those it holds. The quarantine lasts until you end it; joining again does not end it.'
    : 'It can get leases and messages again.',
  verb: on ? 'Quarantine' : 'End quarantine',
  done: on ? `${id} is in quarantine.` : `The quarantine of ${id} has ended.`,
})

export const maintenanceOf = (id, on) => ({
  path: 'maintenance',
  body: {node_id: id, maintenance: on},
  takesMinutes: on,
  title: on ? `Put ${id} in maintenance?` : `End the maintenance of ${id}?`,
  text: on ? 'It gets no new work but can finish its current work.' : 'It can get leases and messages again.',
  verb: on ? 'Start maintenance' : 'End maintenance',
  done: on ? `${id} is in maintenance.` : `The maintenance of ${id} has ended.`,
})

export const revocationOf = ({lease_id: id, scope_key: key, holder_node_id: holder}) => ({
  path: 'revoke-lease',
  body: {lease_id: id},
  isDangerous: true,
  title: `Revoke lease ${id}?`,
  text: `${holder} holds it on ${key} and must stop the work it covers. Another node can acquire the key immediately.`,
  verb: 'Revoke lease',
  done: `Lease ${id} was revoked.`,
})

export const retryOf = ({id, receiver_agent_id: receiver}) => ({
  path: 'retry-dead',
  body: {message_id: id},
  title: `Retry message ${id}?`,
  text: `It returns to the inbox of agent ${receiver} with its attempts reset.`,
  verb: 'Retry message',
  done: `Message ${id} is pending again.`,
})

export const dropOf = ({id, receiver_agent_id: receiver}) => ({
  path: 'drop-dead',
  body: {message_id: id},
  isDangerous: true,
  title: `Drop message ${id}?`,
  text: `It will not be delivered to agent ${receiver}. Its contents are deleted.`,
  verb: 'Drop message',
  done: `Message ${id} was dropped.`,
})
