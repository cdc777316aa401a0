import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {contractViolations, type ExplainV1} from '../../src/contracts/index.js'
import {errorCatalogue} from '../../src/errors/catalogue.js'
import {severities} from '../../src/lang/index.js'
import {svcInTurn} from '../support/svc-in-turn.js'

describe('svc explain', () => {
  it('prints the message, cause and fix of an error code', async () => {
    const {stdout, stderr, exitCode} = await svcInTurn(['explain', 'wait_interrupted'])
    assert.equal(
      stdout,
      `wait_interrupted (exit status 130, HTTP status 499)

Message: The wait was interrupted; T-0042 is still InProgress.
Cause:   Ctrl-C stopped the wait, which does not affect the task.
Fix:     Wait again with \`svc orch task T-0042 --wait\`.
`,
    )
    assert.deepEqual([stderr, exitCode], ['', 0])
  })

  it('prints an example of a diagnostic code, its message and the fixed program', async () => {
    const {stdout} = await svcInTurn(['explain', 'typecheck.null'])
    assert.equal(
      stdout,
      `typecheck.null (error in the data language)

Cause:   The language has no null; use Option for a value that may be absent.
Fix:     Use None.

Example:

    fn nobody() to Option[str] { return null }

    error[typecheck.null]: There is no null; write None.
     --> main.svc:1:37
      |
    1 | fn nobody() to Option[str] { return null }
      |                                     ^^^^
      = fix: Write None

Fixed:

    fn nobody() to Option[str] { return None }
`,
    )
  })

  it('prints JSON of the same shape for one code and for all', async () => {
    const all = await explain([])
    assert.deepEqual(
      all.map(({code}) => code),
      [...Object.keys(errorCatalogue()), ...Object.keys(severities)],
    )
    for (const code of ['audio_empty', 'parse.int_range'])
      assert.deepEqual(
        await explain([code]),
        all.filter((one) => one.code === code),
      )
  })

  it('lists groups without an argument, and the codes of a group', async () => {
    const groups = (await svcInTurn(['explain', '-o', 'name'])).stdout.trim().split('\n')
    const all = (await explain([])).map(({code}) => code)
    const members = await Promise.all(groups.map(async (group) => (await explain([group])).map(({code}) => code)))
    assert.deepEqual(members.flat(), all)
    assert.deepEqual([...new Set([...groups, ...all])].length, groups.length + all.length)
    assert.match(
      (await svcInTurn(['explain'])).stdout,
      /^GROUP .*\n[\s\S]*^parse +\d+ +parse\.\w+, [\s\S]*svc explain GROUP/m,
    )
    assert.match((await svcInTurn(['explain', 'audio'])).stdout, /^CODE +CAUSE\n[\s\S]*^audio_empty +\w/m)
  })

  it('suggests the nearest code for an unknown one', async () => {
    const {stdout, stderr, exitCode} = await svcInTurn(['explain', 'typecheck.nul'])
    assert.match(stderr, /typecheck\.nul\. Did you mean typecheck\.null\?/)
    assert.deepEqual([stdout, exitCode], ['', 3])
  })
})

async function explain(args: readonly string[]): Promise<ExplainV1['codes']> {
  const result = JSON.parse((await svcInTurn(['explain', ...args, '--json'])).stdout) as ExplainV1
  assert.deepEqual(await contractViolations('cli/explain.v1', result), [])
  return result.codes
}
