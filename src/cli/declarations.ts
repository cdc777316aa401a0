/**
 * Build step: writes `oclif.manifest.json`, from which the command line learns its commands without loading one of
 * them.
 */
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {packageRoot} from '../files/index.js'
import {loadCommands} from './package.js'

const {manifest} = await loadCommands()
await writeFile(join(packageRoot, 'oclif.manifest.json'), `${JSON.stringify(manifest)}\n`)
