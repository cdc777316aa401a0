/** Words and colours of statuses. */
import {element} from '../../../pages/parts/elements.js'
import {labelOf} from '../../../pages/parts/form.js'
import {ago, dateFormat} from '../../../pages/parts/format.js'

/** Statuses of tasks: the words and the tone of each. */
export const taskStatuses = {
  Queued: ['Queued', 'plain'],
  InProgress: ['In progress', 'info'],
  RemoteHold: ['On another node', 'info'],
  Blocked: ['Blocked', 'warn'],
  BlockedOnApproval: ['Needs approval', 'warn'],
  Doubted: ['Doubted', 'warn'],
  Completed: ['Completed', 'good'],
  Failed: ['Failed', 'bad'],
  Cancelled: ['Cancelled', 'plain'],
}

/** Statuses of runs, their steps, plans, agents, gates and nodes. */
const otherStatuses = {
  running: 'info',
  started: 'info',
  active: 'info',
  in_progress: 'info',
  queued: 'plain',
  pending: 'plain',
  cancelled: 'plain',
  waiting: 'warn',
  interrupted: 'warn',
  paused: 'warn',
  owed: 'warn',
  void: 'warn',
  relaxed: 'warn',
  stale: 'warn',
  maintenance: 'info',
  quarantined: 'bad',
  unverified: 'warn',
  completed: 'good',
  pass: 'good',
  met: 'good',
  idle: 'good',
  OK: 'good',
  failed: 'bad',
  fail: 'bad',
  error: 'bad',
}

/** Field for the priority of a task. */
export const prioritySchema = {enum: ['urgent', 'normal', 'background']}

/** Badge of a status. */
export function badge(status) {
  const [words, tone] = taskStatuses[status] ?? [labelOf(status), otherStatuses[status] ?? 'plain']
  return element('span', {className: 'badge', 'data-tone': tone}, words)
}

/** Element with the age of a time, Unix ms. */
export function timeOf(ms) {
  const shown = element('time', {title: dateFormat.format(ms), dateTime: new Date(ms).toISOString()})
  const tick = () => {
    shown.textContent = ago(ms)
  }
  tick()
  return {element: shown, tick}
}

/** The first line of a text. */
export const firstLine = (text) => text.trim().split('\n', 1)[0]
