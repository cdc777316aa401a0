import {sectionSettings} from '../setting.js'
import {boolean, choice, integer, number, path, text} from '../types.js'

/** Earlier work that is added to the prompts of models. */
export const orchestratorMemorySettings = sectionSettings('orchestrator.memory', () => ({
  enabled: {
    type: boolean('strict'),
    default: true,
    doc: 'Add the memory file to the prompts of tasks, and log the results of these tasks.',
  },
  accountId: {
    type: text('a name'),
    default: 'global',
    doc: 'Name of the folder below .svc/memory with the memory file and the logs.',
  },
  memoryMdPath: {
    type: path(),
    doc: 'Memory file, relative to the workspace root; default: MEMORY.md in the folder of the account.',
  },
  logDir: {
    type: path(),
    doc: 'Directory for the daily logs, relative to the workspace root; default: the folder of the account.',
  },
  logRetentionDays: {
    type: integer({min: 1, max: 36_500}),
    default: 30,
    doc: 'Days for which the daily logs are kept.',
  },
}))

/** When the turns of a session are summarised. */
export const orchestratorCompactionSettings = sectionSettings('orchestrator.compaction', () => ({
  maxContextTokens: {
    type: integer({min: 1}),
    default: 128_000,
    doc: 'Maximum number of tokens of the turns of a session, including the reserved ones.',
  },
  reservedTokens: {
    type: integer({min: 0}),
    default: 10_000,
    doc: 'Tokens of the maximum that are reserved for the next answer.',
  },
  compactionThreshold: {
    type: number({min: 0, max: 1}),
    default: 0.8,
    doc: 'Share of the tokens that are not reserved above which a session is compacted.',
  },
  minViableTokens: {
    type: integer({min: 0}),
    default: 2000,
    doc: 'Minimum number of tokens that a summary must replace.',
  },
  strategy: {
    type: choice('balanced', 'recent', 'full', 'off'),
    default: 'balanced',
    doc: 'Turns that a summary does not replace: the first and last ones (balanced), the last (recent), none (full) or all (off).',
  },
  headPreserveTokens: {
    type: integer({min: 0}),
    default: 2000,
    doc: 'Maximum number of tokens of the first turns that are kept.',
  },
  tailPreserveTokens: {
    type: integer({min: 0}),
    default: 8000,
    doc: 'Maximum number of tokens of the last turns that are kept.',
  },
}))
