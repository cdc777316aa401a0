import {writeFile} from 'node:fs/promises'
import {projectFile} from '../support/project.js'
import {generatedFiles} from './generated-files.js'

for (const [path, text] of Object.entries(generatedFiles())) await writeFile(projectFile(path), text)
