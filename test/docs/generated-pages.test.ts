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

  it('docs/llms.txt fits in 8,000 tokens, at four characters a token', () =>
    assert.ok((pages['docs/llms.txt'] ?? '').length <= 32_000))
})
