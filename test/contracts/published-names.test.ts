import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {it} from 'node:test'
import {projectFile} from '../support/project.js'
import {publishedNames} from './published-names.js'

it('the published names match test/fixtures/published-names.txt', async () => {
  const published = (await readFile(projectFile('test/fixtures/published-names.txt'), 'utf8')).trim().split('\n')
  const names = await publishedNames()
  const isNamed = new Set(names)
  const isPublished = new Set(published)
  assert.deepEqual(
    published.filter((name) => !isNamed.has(name)),
    [],
    'published names were removed or renamed; keep them, or add an alias',
  )
  assert.deepEqual(
    names.filter((name) => !isPublished.has(name)),
    [],
    'new names; run npm run names',
  )
})
