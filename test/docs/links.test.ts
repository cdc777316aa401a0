import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {linkFindings, pagesBelow} from './links.js'

describe('the links of a page', () => {
  it('lead to files and headings that exist', async (t) => {
    const root = await temporaryFolder(t)
    await writeFiles(root, {
      'a.md': `# Start: the \`svc\` command
## Notes
## Notes
[page](docs/b.md) [heading](docs/b.md#weights-of-8-or-4-bits) [own](#start-the-svc-command) [second](#notes-1)
[web](https://example.com/none) [folder](docs) [gone](c.md) [lost](docs/b.md#weights) [third](#notes-2)
\`\`\`text
[not a link](none.md)
\`\`\`
`,
      'docs/b.md': '# Weights of 8 or 4 bits\n[back](../a.md)\n',
      'node_modules/c.md': '[gone](none.md)\n',
    })
    const pages = pagesBelow(root)
    assert.deepEqual(pages.sort(), ['a.md', 'docs/b.md'])
    assert.deepEqual(
      linkFindings(root, pages).map(({rule}) => rule),
      [
        'c.md: this file does not exist',
        'docs/b.md#weights: the page has no such heading',
        '#notes-2: the page has no such heading',
      ],
    )
  })
})
