/** Build step: indexes the documentation, so that `svc ask` does not read all of it. */
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {packageRoot} from '../files/index.js'
import {type AlsoAsked, indexPassages, writeIndex} from './index-file.js'
import {readCommands} from './manifest.js'
import {Library} from './passages.js'

const asked = JSON.parse(await readFile(join(packageRoot, 'src/help/also-asked.json'), 'utf8')) as AlsoAsked
const commands = await readCommands()
await writeIndex(indexPassages(await new Library(commands).all(), asked, commands))
