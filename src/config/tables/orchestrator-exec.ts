import {sectionSettings} from '../setting.js'
import {argv, tableOf} from '../structures.js'
import {boolean, integer, list, milliseconds, userName} from '../types.js'

/** Tasks that run local programs. Set only in the file, so that no environment variable can enable them. */
export const orchestratorExecSettings = sectionSettings('orchestrator.exec', () => ({
  enabled: {
    type: boolean('strict'),
    default: false,
    doc: 'Allow tasks to run the programs in templates.',
  },
  timeoutMs: {
    type: milliseconds(1),
    default: 60_000,
    doc: 'Time after which a program is terminated, in milliseconds.',
  },
  maxOutputBytes: {
    type: integer({min: 1, max: 2 ** 30}),
    default: 2 ** 18,
    doc: 'Bytes of program output to keep: a quarter from its beginning, the rest from its end.',
  },
  user: {
    type: userName(),
    userOnly: true,
    doc: 'System account that runs the programs; the daemon must then run as root.',
  },
  secrets: {
    type: list(),
    default: [] as readonly string[],
    doc: 'Environment variables that a task can request for its program; no others are passed to it.',
  },
  templates: {
    type: tableOf(argv()),
    default: {} as Readonly<Record<string, readonly string[]>>,
    doc: 'Programs that tasks can run, by name, each with its arguments.',
  },
}))
