import {Plugin} from '@oclif/core'
import {packageRoot} from '../files/index.js'

/** Loads svc's commands from their modules instead of the manifest. */
export async function loadCommands(): Promise<Plugin> {
  const plugin = new Plugin({
    root: packageRoot,
    type: 'core',
    ignoreManifest: true,
    errorOnManifestCreate: true,
    respectNoCacheDefault: true,
  })
  await plugin.load()
  return plugin
}
