import type {SettingTable} from '../setting.js'
import {appSettings} from './app.js'
import {engineSettings} from './engine.js'
import {hubSettings} from './hub.js'
import {ideSettings} from './ide.js'
import {inferenceSettings} from './inference.js'
import {loggingSettings} from './logging.js'
import {meshSettings} from './mesh.js'
import {serveSettings} from './serve.js'
import {speechSettings} from './speech.js'
import {speechAudioSettings} from './speech-audio.js'
import {speechRefineSettings} from './speech-refine.js'
import {speechServerSettings} from './speech-server.js'
import {speechSessionSettings} from './speech-session.js'
import {workspaceSettings} from './workspace.js'

/** Every setting there is, in the order `svc config show` prints them. */
export const settingTables: readonly SettingTable[] = [
  workspaceSettings,
  loggingSettings,
  engineSettings,
  serveSettings,
  inferenceSettings,
  speechSettings,
  speechAudioSettings,
  speechRefineSettings,
  speechSessionSettings,
  speechServerSettings,
  hubSettings,
  ideSettings,
  meshSettings,
  appSettings,
]
