import {sectionSettings} from '../setting.js'
import {argv, tableOf} from '../structures.js'
import {boolean, integer, milliseconds} from '../types.js'

/** Tasks that run a program of this machine. Set in the file only, so that no environment variable can enable it. */
export const orchestratorExecSettings = sectionSettings('orchestrator.exec', () => ({
  enabled: {
    type: boolean('strict'),
    default: false,
    doc: 'Let tasks run the programs of the templates.',
  },
  timeoutMs: {
    type: milliseconds(1),
    default: 60_000,
    doc: 'Milliseconds after which a program is ended.',
  },
  maxOutputBytes: {
    type: integer({min: 1, max: 2 ** 30}),
    default: 2 ** 18,
    doc: 'Bytes of output that are kept of a program: a quarter from its beginning, the rest from its end.',
  },
  templates: {
    type: tableOf(argv()),
    default: {} as Readonly<Record<string, readonly string[]>>,
    doc: 'Programs that tasks may run, by name, each with its arguments.',
  },
}))
