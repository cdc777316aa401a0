/**
 * A setting is declared once, as a row of a table: its name, environment variables, TOML keys, type, default and doc.
 * From the rows come parsing, precedence, warnings, `svc config`, command flags and the manual.
 */
export {type DescribedSetting, describeSettings} from './describe.js'
export {type ConfigFile, readConfigFile} from './file.js'
export {
  type Origin,
  type Resolution,
  type ResolvedSetting,
  resolveSettings,
  type SettingSources,
  type SettingValues,
  unknownKeys,
} from './resolve.js'
export {type Setting, type SettingRows, type SettingTable, settings} from './setting.js'
export {engineSettings} from './tables/engine.js'
export {settingTables} from './tables/index.js'
export {inferenceSettings} from './tables/inference.js'
export {loggingSettings} from './tables/logging.js'
export {meshSettings} from './tables/mesh.js'
export {serveSettings} from './tables/serve.js'
export {workspaceSettings} from './tables/workspace.js'
export * as types from './types.js'
export type {SettingWarning} from './warning.js'
export {discoverWorkspace, type Workspace} from './workspace.js'
