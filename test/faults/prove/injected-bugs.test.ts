import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {pathToFileURL} from 'node:url'
import {projectFile} from '../../support/project.js'
import {injectedBugs, testBug} from './injected-bugs/campaign.js'
import {type MutationName, mutate, mutations} from './injected-bugs/mutations.js'

/** A bug that a short run detects; `injected-bugs.slow.ts` tests all of them. */
const quick = 'guess-burns-bootstrap'

describe('the changes that inject bugs', () => {
  for (const [name, modules] of Object.entries(mutations))
    it(`of ${name} apply to the compiled modules`, () => {
      for (const {module} of modules) {
        const path = projectFile(`dist/${module}`)
        const text = readFileSync(path, 'utf8')
        assert.notEqual(mutate(name as MutationName, pathToFileURL(path).href, text), text)
      }
    })
})

describe('injected bug', () => {
  for (const each of injectedBugs.filter(({bug}) => bug === quick)) testBug(each, {seed: 1, seconds: 1})
})
