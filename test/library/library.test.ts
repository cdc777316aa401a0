import assert from 'node:assert/strict'
import {existsSync, readFileSync} from 'node:fs'
import {readdir} from 'node:fs/promises'
import {describe, it} from 'node:test'
import * as library from '../../src/library/index.js'
import {projectFile} from '../support/project.js'
import {apiPages} from './api-pages.js'

describe('the library', () => {
  const {exports} = JSON.parse(readFileSync(projectFile('package.json'), 'utf8')) as {
    exports: Record<string, string | {types: string; default: string}>
  }

  it('has the entry points that package.json names, each with its types and an example', () => {
    const names = Object.keys(exports).filter((name) => name !== './package.json')
    assert.deepEqual(
      names,
      Object.keys(library)
        .sort()
        .map((name) => `./${name}`),
    )
    for (const name of names) {
      const {types, default: code} = exports[name] as {types: string; default: string}
      for (const path of [types, code, `examples/api/${name.slice(2)}.mjs`])
        assert.ok(existsSync(projectFile(path)), path)
    }
  })

  it('has pages in docs/api that are up to date: npm run docs writes them', async () => {
    const pages = apiPages()
    assert.deepEqual(
      (await readdir(projectFile('docs/api'))).map((name) => `docs/api/${name}`).sort(),
      Object.keys(pages).sort(),
    )
    for (const [path, text] of Object.entries(pages)) assert.equal(readFileSync(projectFile(path), 'utf8'), text, path)
  })

  it('documents every function with a sentence', () => {
    for (const [name, entry] of Object.entries(library))
      for (const [exported, value] of Object.entries(entry)) {
        if (typeof value !== 'function') continue
        const page = apiPages()[`docs/api/${name}.md`] ?? ''
        const [, section = ''] = page.split(`### ${exported}\n`)
        assert.match(section.split('\n### ')[0] ?? '', /```\n\n[A-Z-]/, `${name}: ${exported} has no doc comment`)
      }
  })
})
