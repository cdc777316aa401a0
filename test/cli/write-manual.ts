import {mkdir, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {projectFile} from '../support/project.js'
import {manualPages} from './manual-pages.js'

await mkdir(projectFile('man'), {recursive: true})
for (const file of await readdir(projectFile('man'))) await rm(projectFile(`man/${file}`))
const pages = await manualPages()
for (const {file, text} of pages) await writeFile(projectFile(`man/${file}`), text)

// npm installs only pages listed in `man`, and accepts no folder in a packed package.
const manifest = JSON.parse(await readFile(projectFile('package.json'), 'utf8'))
manifest.man = pages.map(({file}) => `man/${file}`).sort()
await writeFile(projectFile('package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
