import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {isDeepStrictEqual} from 'node:util'
import {
  orchestratorTables,
  readConfigFile,
  resolveSettings,
  type SettingSources,
  type SettingTable,
  settingTables,
  unknownKeys,
} from '../config/index.js'
import {SvcError} from '../errors/index.js'
import {appendEvent, type OrchestratorConfig} from '../tasks/index.js'

import {type LiveSettings, readLiveSettings} from './live-settings.js'
import type {Orchestrator} from './open.js'

/** What came of reading the settings anew. */
export interface Reload {
  /** Names of what is other now: settings as `svc orch config` calls them, `groups`, `scopes` and `machine`. */
  changed: string[]
  /** Those among them that count only once the process is started again. */
  after_restart: string[]
  /** What is wrong with the settings, without being an error. */
  warnings: string[]
}

/**
 * Settings of an orchestrator that were used when it was opened, or when a daemon was started: the store, the file of
 * events, the sessions and the inference server.
 */
const usedAtStart =
  /^(orchestrator\.(durability|event_log)|orchestrator\.session\..*|orchestrator\.orchestration_migration\.legacy_.*|mesh\.inference_base_url)$/

/**
 * The sources as they are now: `Svc.toml` is read again, from where it was, or where it is by now.
 * @throws config_unparsable, config_type, file_unreadable: the settings stay as they are
 */
export async function rereadSources(
  root: string,
  sources: SettingSources,
): Promise<{sources: SettingSources; warnings: string[]}> {
  const path = sources.file?.path ?? join(root, 'Svc.toml')
  if (!existsSync(path)) return {sources: {...sources, file: undefined}, warnings: []}
  const file = await readConfigFile(path)
  const warnings = [...file.warnings, ...unknownKeys(settingTables, file)]
  // As at the start of every command, a value of a wrong type is an error, whoever reads it.
  for (const table of settingTables) resolveSettings(table, {env: {}, file})
  return {sources: {...sources, file}, warnings: warnings.map(({message}) => message)}
}

/** The last reload of each orchestrator, whatever comes of it. */
const lastReloads = new WeakMap<Orchestrator['live'], Promise<unknown>>()

/**
 * Reads `Svc.toml` and all that depends on it, and puts the settings, groups and scopes that it gives in the place of
 * those that an open orchestrator has: all of them, or none where something is wrong, here or in the rest of the
 * process. What runs goes on as it was started. One reload begins when the one before it has ended, so that of two that
 * overlap none puts in place what it read before the other.
 * @param rest has the rest of the process do the same, before anything is changed here
 * @throws config_unparsable, config_type, file_unreadable, orchestrator_config_invalid, document_unparsable; what
 *   `rest` throws
 */
export function reloadConfig(
  orchestrator: Orchestrator,
  sources: SettingSources,
  rest?: () => Promise<void>,
): Promise<Reload> {
  const {live} = orchestrator
  const reload = (lastReloads.get(live) ?? Promise.resolve()).then(() => reloadOne(orchestrator, sources, rest))
  lastReloads.set(
    live,
    reload.catch(() => undefined),
  )
  return reload
}

async function reloadOne({root, live}: Orchestrator, sources: SettingSources, rest?: () => Promise<void>) {
  const read = await rereadSources(root, sources)
  const {settings, warnings} = await readLiveSettings(root, read.sources)
  await rest?.()
  // Nothing from here on can fail.
  const changed = changes(live.current, settings)
  live.current = settings
  return {
    changed,
    after_restart: changed.filter((name) => usedAtStart.test(name)),
    warnings: [...new Set([...read.warnings, ...warnings.map(({message}) => message)])],
  }
}

/**
 * Writes that settings were read anew, for everybody who follows what happens.
 * @param warn told where that cannot be written: the settings are in place all the same
 */
export function announceReload(
  orchestrator: Orchestrator,
  {changed}: Pick<Reload, 'changed'>,
  warn: (text: string) => void,
): void {
  try {
    appendEvent(orchestrator, {type: 'config_reloaded', changed})
  } catch (error) {
    warn(`warning: The settings are in place, but nobody was told: ${SvcError.from(error).message}`)
  }
}

function changes(before: LiveSettings, after: LiveSettings): string[] {
  const settings = orchestratorTables.flatMap((table) => {
    const [old, fresh] = [valuesOf(table, before.config), valuesOf(table, after.config)]
    return Object.keys(table.rows)
      .filter((name) => !isDeepStrictEqual(old[name], fresh[name]))
      .map((name) => `${table.name}.${snakeCase(name)}`)
  })
  const rest = (
    [
      ['groups', before.groups, after.groups],
      ['scopes', before.scopes, after.scopes],
      ['machine', before.probe, after.probe],
    ] as const
  ).filter(([, old, fresh]) => !isDeepStrictEqual(old, fresh))
  return [...new Set([...settings, ...rest.map(([name]) => name)])]
}

/** The part of the configuration that a table gives: a member of its own where there is one of its name. */
function valuesOf({name}: SettingTable, config: OrchestratorConfig): Readonly<Record<string, unknown>> {
  const members = config as unknown as Readonly<Record<string, unknown>>
  const own = members[camelCase(name.slice(name.indexOf('.') + 1))]
  return name.includes('.') && own !== undefined ? (own as Readonly<Record<string, unknown>>) : members
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
