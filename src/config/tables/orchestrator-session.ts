import {sectionSettings} from '../setting.js'
import {boolean, integer, path, text} from '../types.js'

const timeout = integer({min: 0, max: 10 * 365 * 86_400})

/** Chat sessions. */
export const orchestratorSessionSettings = sectionSettings('orchestrator.session', () => ({
  sessionsDir: {
    type: path(),
    default: '.svc/sessions',
    doc: 'Directory for session files, relative to the workspace root.',
  },
  repositoryId: {
    type: text('an id'),
    doc: 'Repository that the sessions belong to, to share them between workspaces; default: that of the workspace.',
  },
  maxSessions: {
    type: integer({min: 1, max: 100_000}),
    default: 16,
    doc: 'Maximum number of sessions that are not archived.',
  },
  idleTimeoutSecs: {
    type: timeout,
    default: 1800,
    doc: 'Time without activity after which a session becomes idle, in seconds; 0 is never.',
  },
  archiveTimeoutSecs: {
    type: timeout,
    default: 86_400,
    doc: 'Time without activity after which a session is archived, in seconds; 0 is never.',
  },
  persist: {
    type: boolean('strict'),
    default: true,
    doc: 'Keep sessions after the process exits.',
  },
}))
