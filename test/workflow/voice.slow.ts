import assert from 'node:assert/strict'
import {cp} from 'node:fs/promises'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {describe, it, type TestContext} from 'node:test'
import {openAiServer} from '../support/openai-server.js'
import {projectFile} from '../support/project.js'
import {startSvc, svc} from '../support/svc.js'
import {temporaryFolder} from '../support/temporary.js'

const plan = JSON.stringify({tasks: ['Restart the worker', 'Report the result']})

/** A workspace with the example and a model that returns the plan. The approval is signalled when the run asks for it. */
async function voiceWorkspace(test: TestContext) {
  const {baseUrl} = await openAiServer(test, {
    answer: (response) => response.end(JSON.stringify({choices: [{message: {role: 'assistant', content: plan}}]})),
  })
  const cwd = await temporaryFolder(test)
  await cp(projectFile('examples/voice-to-task'), cwd, {recursive: true})
  await cp(projectFile('examples/memo.wav'), join(cwd, 'memo.wav'))
  const env = {SVC_INFERENCE_URL: baseUrl, SVC_INFERENCE_MODEL: 'corrector', SVC_DATA_DIR: cwd}
  const attempt = (...args: string[]) => svc(args, {cwd, env})
  const run = async (...args: string[]) => {
    const {stdout, stderr, exitCode} = await attempt(...args)
    assert.equal(exitCode, 0, stderr)
    return stdout
  }
  /** Drives the run, and kills the process after some entries of the journal. @returns true if it was killed */
  const driveAndKill = async (args: readonly string[], entries: number): Promise<boolean> => {
    const going = startSvc(['workflow', ...args, '--json'], {cwd, env})
    let seen = 0
    let signal: Promise<unknown> | undefined
    createInterface({input: going.stdout as NodeJS.ReadableStream}).on('line', (line) => {
      const {event, activity} = JSON.parse(line) as {event: string; activity?: string}
      if (event === 'ActivityStarted' && activity === 'approve')
        signal ??= attempt('workflow', 'signal', 'memo', 'approve')
      if (++seen === entries) going.kill('SIGKILL')
    })
    const {signal: killedBy} = await going
    await signal
    return killedBy === 'SIGKILL'
  }
  return {run, attempt, driveAndKill}
}

describe('voice to task whose process is killed after each entry of the journal', () => {
  const start = ['run', 'voice-to-task.yaml', '-i', 'recording=memo.wav', '--run-id', 'memo']

  it('ends in the same way', async (test) => {
    let outcome: unknown
    for (let entries = 1, wasKilled = true; wasKilled; entries++) {
      const {run, attempt, driveAndKill} = await voiceWorkspace(test)
      await run('daemon', 'start')
      try {
        wasKilled = await driveAndKill(start, entries)
        let report: {status: string; output: unknown; activities: {activity_id: string; signal_key?: string}[]}
        do {
          report = JSON.parse(await run('workflow', 'status', 'memo', '--json'))
          const asks = report.activities.some(({signal_key: key}) => key === 'approve')
          // Refused if the run has ended in the meantime, because it had the signal already.
          if (asks) await attempt('workflow', 'signal', 'memo', 'approve')
        } while (report.status === 'running' || report.status === 'waiting')
        outcome ??= report.output
        assert.deepEqual([report.status, report.output], ['completed', outcome], `after ${entries} entries`)
        const {tasks} = JSON.parse(await run('orch', 'tasks', '--json')) as {tasks: {description: string}[]}
        assert.deepEqual(tasks.map(({description}) => description).sort(), ['Report the result', 'Restart the worker'])
        assert.match(await run('workflow', 'replay', 'memo'), /reproduced/)
      } finally {
        await run('daemon', 'stop')
      }
    }
  })
})
