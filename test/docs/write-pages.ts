import {mkdir, writeFile} from 'node:fs/promises'
import {dirname} from 'node:path'
import {projectFile} from '../support/project.js'
import {generatedPages} from './generated-pages.js'

for (const [path, text] of Object.entries(await generatedPages())) {
  await mkdir(dirname(projectFile(path)), {recursive: true})
  await writeFile(projectFile(path), text)
}
