import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {cardExamples} from '../../src/bench/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const card = `---
license: mit
widget:
- text: Once upon
  output:
    text: Once upon a time
- text: No output
- src: https://example.com/a.wav
  output: {text: far away}
- src: ../outside.wav
  output: {text: outside}
- src: here.wav
  output: {text: hello}
---
# A model
`

describe('examples in the card of a model', () => {
  it('are the entries of the widget that have an output and are in the directory', async (t) => {
    const root = await temporaryFolder(t)
    const folder = join(root, 'model')
    await writeFiles(root, {'model/README.md': card, 'model/here.wav': '', 'outside.wav': ''})
    assert.deepEqual(await cardExamples(folder, 'text'), [
      {input: 'Once upon', output: 'Once upon a time', isExact: false},
    ])
    assert.deepEqual(await cardExamples(folder, 'src'), [
      {input: join(folder, 'here.wav'), output: 'hello', isExact: false},
    ])
  })

  it('are none without a card, and with one that cannot be parsed', async (t) => {
    const folder = await temporaryFolder(t)
    assert.deepEqual(await cardExamples(folder, 'text'), [])
    await writeFiles(folder, {'README.md': '---\nwidget: [\n---\n'})
    assert.deepEqual(await cardExamples(folder, 'text'), [])
  })
})
