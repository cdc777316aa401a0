/** Build step: writes `oclif.manifest.json`, so that svc knows its commands without loading their modules. */
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {packageRoot} from '../files/index.js'
import {loadCommands} from './package.js'

/** Joins the lines of each paragraph, so that help wraps at the width of the terminal. */
const unwrap = (text: string): string => text.replaceAll(/(?<!\n)\n(?!\n)/g, ' ')

const {manifest} = await loadCommands()
for (const command of Object.values(manifest.commands))
  if (command.description !== undefined) command.description = unwrap(command.description)
await writeFile(join(packageRoot, 'oclif.manifest.json'), `${JSON.stringify(manifest)}\n`)
