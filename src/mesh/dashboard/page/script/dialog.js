/** Actions of the page, with a confirmation dialog. */
import {byId, setText, toast} from '../../../../pages/parts/elements.js'

export const base = location.pathname.replace(/\/?$/, '/')
const confirmation = byId('confirm')
const minutesInput = byId('confirm-minutes').querySelector('input')
let pending

/** Opens the dialog. @param question texts and request of the action */
export function ask(question) {
  pending = question
  const {title, text, verb, isDangerous, takesMinutes} = question
  setText(byId('confirm-title'), title)
  setText(byId('confirm-text'), text)
  setText(byId('confirm-yes'), verb)
  setText(byId('confirm-fault'), '')
  byId('confirm-yes').classList.toggle('danger', isDangerous === true)
  byId('confirm-yes').disabled = false
  byId('confirm-minutes').hidden = takesMinutes !== true
  minutesInput.value = ''
  confirmation.showModal()
}

async function send() {
  const {path, body, takesMinutes, done, heading} = pending
  const minutes = takesMinutes && minutesInput.value !== '' ? {minutes: Number(minutesInput.value)} : {}
  byId('confirm-yes').disabled = true
  try {
    const response = await fetch(base + path, {
      method: 'POST',
      headers: {'content-type': 'application/json'},
      body: JSON.stringify({...body, ...minutes}),
    })
    if (!response.ok) {
      const problem = await response.json().catch(() => ({}))
      throw new Error(
        [problem.detail ?? `The server returned status ${response.status}.`, problem.hint].filter(Boolean).join(' '),
      )
    }
    confirmation.close()
    toast(done)
    if (document.activeElement === document.body) byId(heading).focus()
  } catch (error) {
    const isLost = error instanceof TypeError
    setText(
      byId('confirm-fault'),
      isLost ? 'The dashboard server is not reachable. Is svc mesh dashboard running?' : error.message,
    )
    byId('confirm-yes').disabled = false
  }
}

confirmation.querySelector('form').onsubmit = (event) => {
  event.preventDefault()
  send()
}
byId('confirm-no').onclick = () => confirmation.close()

export const quarantineOf = (id, on) => ({
  path: 'quarantine',
  body: {node_id: id, quarantined: on},
  heading: 'nodes-title',
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
  heading: 'nodes-title',
  takesMinutes: on,
  title: on ? `Put ${id} in maintenance?` : `End the maintenance of ${id}?`,
  text: on ? 'It gets no new work but can finish its current work.' : 'It can get leases and messages again.',
  verb: on ? 'Start maintenance' : 'End maintenance',
  done: on ? `${id} is in maintenance.` : `The maintenance of ${id} has ended.`,
})

export const revocationOf = ({lease_id: id, scope_key: key, holder_node_id: holder}) => ({
  path: 'revoke-lease',
  body: {lease_id: id},
  heading: 'leases-title',
  isDangerous: true,
  title: `Revoke lease ${id}?`,
  text: `${holder} holds it on ${key} and must stop the work it covers. Another node can acquire the key immediately.`,
  verb: 'Revoke lease',
  done: `Lease ${id} was revoked.`,
})

export const retryOf = ({id, receiver_agent_id: receiver}) => ({
  path: 'retry-dead',
  body: {message_id: id},
  heading: 'dead-title',
  title: `Retry message ${id}?`,
  text: `It returns to the inbox of agent ${receiver} with its attempts reset.`,
  verb: 'Retry message',
  done: `Message ${id} is pending again.`,
})

export const dropOf = ({id, receiver_agent_id: receiver}) => ({
  path: 'drop-dead',
  body: {message_id: id},
  heading: 'dead-title',
  isDangerous: true,
  title: `Drop message ${id}?`,
  text: `It will not be delivered to agent ${receiver}. Its contents are deleted.`,
  verb: 'Drop message',
  done: `Message ${id} was dropped.`,
})
