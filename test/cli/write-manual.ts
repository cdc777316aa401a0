import {mkdir, readdir, rm, writeFile} from 'node:fs/promises'
import {manualPages} from '../../src/cli/manual.js'
import {projectFile} from '../support/project.js'

await mkdir(projectFile('man'), {recursive: true})
for (const file of await readdir(projectFile('man'))) await rm(projectFile(`man/${file}`))
for (const {file, text} of await manualPages()) await writeFile(projectFile(`man/${file}`), text)
