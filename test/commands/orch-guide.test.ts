import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {taskPhases} from '../../src/workspace/index.js'
import {guideRun} from '../support/guide.js'
import {orchWorkspace} from '../support/orch-workspace.js'
import {startServer} from '../support/server.js'

const toml = `[orchestrator.exec]
enabled = true
[orchestrator.exec.templates]
add-line = ["node", "-e", "fs.appendFileSync(process.argv[1], process.argv[2] + '\\\\n')", "{file}", "{line}"]
`

describe('a workspace with a model server and a daemon', () => {
  it('runs a task with a model and one with a command, and expires the claim of a worker', async (t) => {
    const server = await startServer(['--model', guideRun, '--threads', '1'])
    t.after(() => server.stop())
    const workspace = await orchWorkspace(t, toml)
    const {startInTurn, submit, json, run, text, cwd} = workspace
    const env = {SVC_INFERENCE_URL: server.baseUrl, SVC_INFERENCE_MAX_TOKENS: '24'}
    const daemon = startInTurn(['daemon', 'run', '--json'], {env})
    await daemon.line(1)

    const thought = await json<{status: string; result: {text: string; model: string; phases: object}}>(
      'cli/orch-task.v1',
      ['orch', 'submit', 'Say how subtitles are made.', '--wait', '--timeout', '600'],
    )
    assert.equal(thought.status, 'Completed')
    assert.equal(thought.result.model, 'guide')
    assert.deepEqual(Object.keys(thought.result.phases), [...taskPhases])

    const line = ['--exec', 'add-line', '--param', 'file=NOTES.md', '--param', 'line=seen', '-f', 'NOTES.md']
    await text(['orch', 'submit', 'Write it down', ...line, '--wait', '--timeout', '300'])
    assert.equal(await readFile(join(cwd, 'NOTES.md'), 'utf8'), 'seen\n')

    const id = await submit('Look at it', '--processor', 'external')
    const claim = () => text(['orch', 'claim', '--ttl', '1', '--as', 'a client'])
    assert.equal(await claim(), `${id} 1\n`)
    while (!daemon.lines.some((event) => event.includes('"task_claim_expired"'))) await daemon.told()
    assert.equal((await workspace.task(id)).status, 'Queued')
    const late = await run(['orch', 'complete', id, '--claim', '1', '--summary', 'too late'])
    assert.equal(late.exitCode, 4)
    assert.match(late.stderr, /claim_lost/)
    const again = (await text(['orch', 'claim', '--as', 'another'])).trim().split(' ')[1] ?? ''
    await text(['orch', 'complete', id, '--claim', again, '--summary', 'in time'])
    assert.equal((await workspace.task(id)).result?.text, 'in time')
    assert.equal(await daemon.end('SIGTERM'), 0)
  })
})
