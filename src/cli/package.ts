import {fileURLToPath} from 'node:url'
import {Plugin} from '@oclif/core'

/** The package's folder, seen from the compiled file. */
export const packageRoot = fileURLToPath(new URL('../../../', import.meta.url))

/** Our own commands, read from their files and not from the manifest. */
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
