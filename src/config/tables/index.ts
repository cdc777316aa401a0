import type {SettingTable} from '../setting.js'
import {engineSettings} from './engine.js'
import {inferenceSettings} from './inference.js'
import {loggingSettings} from './logging.js'
import {meshSettings} from './mesh.js'
import {serveSettings} from './serve.js'
import {workspaceSettings} from './workspace.js'

/** Every setting there is, in the order `svc config show` prints them. */
export const settingTables: readonly SettingTable[] = [
  workspaceSettings,
  loggingSettings,
  engineSettings,
  serveSettings,
  inferenceSettings,
  meshSettings,
]
