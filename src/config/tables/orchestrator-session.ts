import {sectionSettings} from '../setting.js'
import {boolean, integer, path} from '../types.js'

const timeout = integer({min: 0, max: 10 * 365 * 86_400})

/** Conversations with agents. */
export const orchestratorSessionSettings = sectionSettings('orchestrator.session', () => ({
  sessionsDir: {
    type: path(),
    default: '.svc/sessions',
    doc: 'Folder of sessions that are files, from the root of the workspace.',
  },
  maxSessions: {
    type: integer({min: 1, max: 100_000}),
    default: 16,
    doc: 'Most sessions that are not archived.',
  },
  idleTimeoutSecs: {
    type: timeout,
    default: 1800,
    doc: 'Seconds without activity after which a session is idle; 0 is never.',
  },
  archiveTimeoutSecs: {
    type: timeout,
    default: 86_400,
    doc: 'Seconds without activity after which a session is archived; 0 is never.',
  },
  persist: {
    type: boolean('strict'),
    default: true,
    doc: 'Keep sessions when the process ends.',
  },
}))
