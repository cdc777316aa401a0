import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {projectFile} from '../support/project.js'
import {generatedPages} from './generated-pages.js'

describe('the generated pages of docs', async () => {
  const pages = await generatedPages()
  for (const [path, text] of Object.entries(pages))
    it(`${path} is up to date: npm run docs writes it`, async () =>
      assert.equal(await readFile(projectFile(path), 'utf8'), text))

  it('the tour has ten pictures, each below 10 KB and without times', () => {
    const pictures = Object.entries(pages).filter(([path]) => path.startsWith('docs/tour/'))
    assert.equal(pictures.length, 10)
    for (const [path, text] of pictures) {
      assert.ok(text.length < 10_000, path)
      assert.doesNotMatch(text, /\d{4}-\d\d-\d\d|\d\d:\d\d|svc-tour-|Internal error/, path)
    }
  })

  it('docs/llms.txt fits in 8,000 tokens, at four characters a token', () =>
    assert.ok((pages['docs/llms.txt'] ?? '').length <= 32_000))
})
