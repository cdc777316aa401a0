import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {it} from 'node:test'
import {projectFile} from '../support/project.js'
import {publishedNames} from './published-names.js'

it('every published name is in test/fixtures/published-names.txt, and none is gone', async () => {
  const kept = (await readFile(projectFile('test/fixtures/published-names.txt'), 'utf8')).trim().split('\n')
  const names = await publishedNames()
  const isNamed = new Set(names)
  const isKept = new Set(kept)
  assert.deepEqual(
    kept.filter((name) => !isNamed.has(name)),
    [],
    'names that other programs use are removed or renamed; keep them, or add an alias',
  )
  assert.deepEqual(
    names.filter((name) => !isKept.has(name)),
    [],
    'names are added; run npm run names',
  )
})
