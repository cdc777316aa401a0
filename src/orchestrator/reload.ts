import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {isDeepStrictEqual} from 'node:util'
import {
  checkValues,
  orchestratorTables,
  readConfigFile,
  readUserConfig,
  type SettingSources,
  type SettingTable,
  settingTables,
  unknownKeys,
} from '../config/index.js'
import {SvcError} from '../errors/index.js'
import {appendEvent} from '../tasks/index.js'
import type {OrchestratorConfig} from '../workspace/index.js'

import {type LiveSettings, readLiveSettings} from './live-settings.js'
import type {Orchestrator} from './open.js'

/** The result of a reload. */
export interface Reload {
  /** Names of changed values: settings as in `svc orch config`, `groups`, `scopes` and `machine`. */
  changed: string[]
  /** The changed values that require a restart. */
  after_restart: string[]
  /** Warnings about the settings. */
  warnings: string[]
}

/**
 * Settings that are only read when the orchestrator is opened or the daemon starts: the store, the event log file, the
 * sessions and the inference server.
 */
const usedAtStart =
  /^(orchestrator\.(durability|event_log)|orchestrator\.(session|compaction)\..*|orchestrator\.orchestration_migration\.legacy_.*|mesh\.inference_base_url)$/

/**
 * Reads the sources again: `~/.svc/config.toml`, and `Svc.toml` from its former or its current location.
 * @throws config_unparsable, config_type, file_unreadable, in which case the settings are unchanged
 */
export async function rereadSources(
  root: string,
  sources: SettingSources,
): Promise<{sources: SettingSources; warnings: string[]}> {
  const path = sources.file?.path ?? join(root, 'Svc.toml')
  const file = existsSync(path) ? await readConfigFile(path) : undefined
  const userFile = await readUserConfig(sources.env)
  const files = [file, userFile].filter((read) => read !== undefined)
  const warnings = files.flatMap((read) => [...read.warnings, ...unknownKeys(settingTables, read)])
  for (const read of files) checkValues(settingTables, read)
  return {sources: {...sources, file, userFile}, warnings: warnings.map(({message}) => message)}
}

/** The latest reload of each orchestrator, successful or not. */
const lastReloads = new WeakMap<Orchestrator['live'], Promise<unknown>>()

/**
 * Reads `Svc.toml` and everything that depends on it, and replaces the settings, groups and scopes of an open
 * orchestrator. It replaces all of them, or none if there is an error here or in `rest`. Running tasks continue with
 * the old settings. Reloads run one after another, so that an older state cannot replace a newer one.
 * @param rest reloads the rest of the process, before anything is changed here
 * @throws config_unparsable, config_type, file_unreadable, orchestrator_config_invalid, document_unparsable; the errors
 *   of `rest`
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
  // Nothing below can fail.
  const changed = changes(live.current, settings)
  live.current = settings
  return {
    changed,
    after_restart: changed.filter((name) => usedAtStart.test(name)),
    warnings: [...new Set([...read.warnings, ...warnings.map(({message}) => message)])],
  }
}

/**
 * Emits the event of a reload.
 * @param warn called if the event cannot be written; the new settings still apply
 */
export function announceReload(
  orchestrator: Orchestrator,
  {changed}: Pick<Reload, 'changed'>,
  warn: (text: string) => void,
): void {
  try {
    appendEvent(orchestrator, {type: 'config_reloaded', changed})
  } catch (error) {
    warn(`warning: The settings are reloaded, but the event could not be written: ${SvcError.from(error).message}`)
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
      ['telemetry', before.telemetry, after.telemetry],
    ] as const
  ).filter(([, old, fresh]) => !isDeepStrictEqual(old, fresh))
  return [...new Set([...settings, ...rest.map(([name]) => name)])]
}

/** The configuration members of a table: a nested object if there is one with its name. */
function valuesOf({name}: SettingTable, config: OrchestratorConfig): Readonly<Record<string, unknown>> {
  const members = config as unknown as Readonly<Record<string, unknown>>
  const own = members[camelCase(name.slice(name.indexOf('.') + 1))]
  return name.includes('.') && own !== undefined ? (own as Readonly<Record<string, unknown>>) : members
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
