import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {testCases, testSteps} from './compare-in-turn.js'
import {startSvc} from './svc.js'
import {endIdleProcesses, startInTurn, svcInTurn} from './svc-in-turn.js'
import {temporaryFolder} from './temporary.js'

// `svc-in-turn.slow.ts` compares more command lines.
describe('a command line in a reused process', () => {
  testCases((root, other) => [
    // It takes over standard output, which must not affect the next command line.
    [['mcp', 'serve'], {cwd: root}],
    [[]],
    [['genrate']],
    [['config', 'check'], {env: {SVC_THREADS: 'many'}}],
    [['config', 'show', '--json'], {cwd: other, env: {SVC_LOG: 'debug', SVC_THREADS: '3'}}],
    [['config', 'show', '--json'], {cwd: root}],
    [['config', 'show', '-C', 'nowhere'], {cwd: root}],
    [['contracts', 'validate', 'cli/error.v1', '-'], {input: '{"error": {}}'}],
    [['generate', '-m', './nowhere', '-', '--json'], {input: Uint8Array.of(0x61, 0xff)}],
    [['orch', 'submit', '-'], {cwd: root, input: 'x'.repeat(200_000)}],
  ])

  it('runs until it is stopped, and ends like one in a separate process', async (test) => {
    const cwd = await temporaryFolder(test)
    const args = ['daemon', 'run', '--json', '--listen', 'off']
    const going = startInTurn(args, {cwd})
    while (going.lines.length === 0) await going.told()
    assert.equal(JSON.parse(going.lines[0] ?? '').event, 'ready')
    const inTurn = await going.stop()
    const child = startSvc(args, {cwd})
    child.stdout?.once('data', () => child.kill('SIGTERM'))
    const alone = await child
    assert.deepEqual([inTurn.exitCode, inTurn.stderr], [alone.exitCode, alone.stderr])
    assert.match(inTurn.stdout, /"type":"daemon_stopped"/)
    await assert.rejects(going.told(), /It has ended/)
  })

  testSteps([
    [['submit', '--batch', '-', '--json'], '{"description": "one", "processor": "external"}\n'],
    [['claim', '--as', 'me', '--json']],
    [['complete', '1', '--claim', '7', '--json']],
    [['complete', '1', '--claim', '1', '--summary', '-'], 'done\n'],
    [['events', '--json']],
  ])

  it('can be waited for at the end, and replaced', async () => {
    const {stdout} = await svcInTurn(['--version'])
    await endIdleProcesses()
    assert.equal((await svcInTurn(['--version'])).stdout, stdout)
  })
})
