import {writeFile} from 'node:fs/promises'
import {projectFile} from '../support/project.js'
import {generatedPages} from './generated-pages.js'

for (const [path, text] of Object.entries(await generatedPages())) await writeFile(projectFile(path), text)
