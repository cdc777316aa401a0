import {audioExtensions} from '../../audio/index.js'
import {hubCacheFolder, listCachedModels} from '../../weights/index.js'
import {storedIds, storedKinds} from './stored-ids.js'
import type {ValueKind} from './value-kind.js'

/** A word that the user may mean. */
export interface Candidate {
  readonly value: string
  readonly description?: string | undefined
}

/** The paths that a shell offers next to the words: none, directories, or files with one of these extensions. */
export type Paths = 'none' | 'directories' | {readonly extensions: readonly string[]}

/** What can follow on a command line. */
export interface Candidates {
  readonly words: readonly Candidate[]
  readonly paths: Paths
}

const files: Partial<Record<ValueKind, Paths>> = {
  file: {extensions: []},
  directory: 'directories',
  audio: {extensions: audioExtensions},
  program: {extensions: ['svc']},
  'workflow-file': {extensions: ['yaml', 'yml', 'json']},
  records: {extensions: ['jsonl', 'json', 'csv']},
  database: {extensions: ['db', 'sqlite']},
  model: 'directories',
  'speech-model': 'directories',
}

const named = (names: readonly string[]): Candidate[] => names.map((value) => ({value}))

const hubModels = async () => named((await listCachedModels(hubCacheFolder(process.env))).map(({name}) => name))

/** Loads the names of a kind that do not depend on the workspace. */
const names: Partial<Record<ValueKind, () => Promise<Candidate[]>>> = {
  model: hubModels,
  'speech-model': hubModels,
  'task-status': async () => named((await import('../../workspace/index.js')).taskStatuses),
  benchmark: async () =>
    (await import('../../bench/index.js')).benchmarks.map(({name, measures}) => ({value: name, description: measures})),
  contract: async () =>
    (await (await import('../../contracts/index.js')).listContracts()).map(({id, summary}) => ({
      value: id,
      description: summary,
    })),
  'daemon-method': async () =>
    (await import('../../operations/index.js')).daemonMethods.map(({method, summary}) => ({
      value: method,
      description: summary,
    })),
  tool: async () =>
    (await import('../../operations/index.js')).operations.flatMap(({bindings, summary}) =>
      bindings.tool === undefined ? [] : [{value: bindings.tool.name, description: summary}],
    ),
  'error-code': async () => {
    const [{errorGroups}, {severities}] = await Promise.all([
      import('../../errors/index.js'),
      import('../../lang/index.js'),
    ])
    return named([...errorGroups().flatMap(([group, codes]) => [group, ...codes]), ...Object.keys(severities)])
  },
}

/** The values that an argument or flag of a kind can have. */
export async function candidatesOf(kind: ValueKind, cwd: string): Promise<Candidates> {
  const words = storedKinds.includes(kind) ? await storedIds(kind, cwd) : ((await names[kind]?.()) ?? [])
  return {words, paths: files[kind] ?? 'none'}
}
