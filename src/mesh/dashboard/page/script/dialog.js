/** What may be changed, asked for once more before it is. */
import {byId, setText, toast} from './elements.js'

export const base = location.pathname.replace(/\/?$/, '/')
const confirmation = byId('confirm')
const minutesInput = byId('confirm-minutes').querySelector('input')
let asked

/** What there is to confirm: the words, and what to send. */
export function ask(question) {
  asked = question
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
  const {path, body, takesMinutes, done, heading} = asked
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
      throw new Error([problem.detail ?? `The answer was ${response.status}.`, problem.hint].filter(Boolean).join(' '))
    }
    confirmation.close()
    toast(done)
    if (document.activeElement === document.body) byId(heading).focus()
  } catch (error) {
    const isLost = error instanceof TypeError
    setText(
      byId('confirm-fault'),
      isLost ? 'The dashboard does not answer; is svc mesh dashboard running?' : error.message,
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
    ? 'It takes no leases and no messages and cannot renew what it holds. This lasts until it is ended here: joining again does not end it.'
    : 'It may take leases and messages again.',
  verb: on ? 'Quarantine' : 'End quarantine',
  done: on ? `${id} is in quarantine.` : `The quarantine of ${id} has ended.`,
})

export const maintenanceOf = (id, on) => ({
  path: 'maintenance',
  body: {node_id: id, maintenance: on},
  heading: 'nodes-title',
  takesMinutes: on,
  title: on ? `Take ${id} into maintenance?` : `End the maintenance of ${id}?`,
  text: on ? 'It takes nothing new, and may finish what it has.' : 'It may take leases and messages again.',
  verb: on ? 'Start maintenance' : 'End maintenance',
  done: on ? `${id} is in maintenance.` : `The maintenance of ${id} has ended.`,
})

export const revocationOf = ({lease_id: id, scope_key: key, holder_node_id: holder}) => ({
  path: 'revoke-lease',
  body: {lease_id: id},
  heading: 'leases-title',
  isDangerous: true,
  title: `Revoke lease ${id}?`,
  text: `${holder} holds it on ${key}, and has to stop what it does with it. Another node may take the key at once.`,
  verb: 'Revoke lease',
  done: `Lease ${id} is revoked.`,
})

export const retryOf = ({id, receiver_agent_id: receiver}) => ({
  path: 'retry-dead',
  body: {message_id: id},
  heading: 'dead-title',
  title: `Retry message ${id}?`,
  text: `It goes back into the inbox of agent ${receiver}, with all its attempts before it.`,
  verb: 'Retry message',
  done: `Message ${id} is in its inbox.`,
})

export const dropOf = ({id, receiver_agent_id: receiver}) => ({
  path: 'drop-dead',
  body: {message_id: id},
  heading: 'dead-title',
  isDangerous: true,
  title: `Drop message ${id}?`,
  text: `Agent ${receiver} does not get it. Its contents are gone.`,
  verb: 'Drop message',
  done: `Message ${id} is dropped.`,
})
