/**
 * Build step: writes `oclif.manifest.json`, from which the command line learns its commands without loading one of
 * them.
 */
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {packageRoot} from '../files/index.js'
import {loadCommands} from './package.js'

/** Without the line breaks inside of paragraphs, so that help wraps them at the width of the terminal. */
const unwrap = (text: string): string => text.replaceAll(/(?<!\n)\n(?!\n)/g, ' ')

const {manifest} = await loadCommands()
for (const command of Object.values(manifest.commands))
  if (command.description !== undefined) command.description = unwrap(command.description)
await writeFile(join(packageRoot, 'oclif.manifest.json'), `${JSON.stringify(manifest)}\n`)
