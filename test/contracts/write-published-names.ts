import {writeFile} from 'node:fs/promises'
import {projectFile} from '../support/project.js'
import {publishedNames} from './published-names.js'

await writeFile(projectFile('test/fixtures/published-names.txt'), `${(await publishedNames()).join('\n')}\n`)
