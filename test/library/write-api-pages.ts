import {mkdir, writeFile} from 'node:fs/promises'
import {projectFile} from '../support/project.js'
import {apiPages} from './api-pages.js'

await mkdir(projectFile('docs/api'), {recursive: true})
for (const [path, text] of Object.entries(apiPages())) await writeFile(projectFile(path), text)
