import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {linksOf} from '../../src/help/links.js'
import {readCommands} from '../../src/help/manifest.js'

const commands = await readCommands()

describe('the links of passages', () => {
  const passages = [
    {
      page: 'docs/a.md',
      headings: ['A', 'Queue'],
      text: 'Run `svc orch tasks --json`, or:\n\n```\n$ svc orch retry T-0001\n```',
    },
    {page: 'docs/b.md', headings: ['B'], text: 'It fails with `claim_lost` if `log.filter` is wrong, or orch tasks.'},
    {page: 'svc orch tasks --help', headings: ['svc orch tasks', 'List tasks.'], text: 'See svc orch retry.'},
    {page: 'svc orch retry --help', headings: ['svc orch retry', 'Retry tasks.'], text: 'Retries.'},
    {page: 'svc explain claim_lost', headings: ['claim_lost'], text: 'The claim is lost.'},
    {page: 'docs/c.md', headings: ['C', '`log.filter`, `SVC_LOG`'], text: 'Levels.'},
  ]

  it('lead to the help of commands, to errors and to settings that a text names, and back', () =>
    assert.deepEqual(linksOf(passages, commands), [[2, 3], [4, 5], [0, 3], [0, 2], [1], [1]]))
})
