import assert from 'node:assert/strict'
import {once} from 'node:events'
import {copyFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {describe, it, type TestContext} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import {projectFile} from '../support/project.js'
import {startSvc} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder} from '../support/temporary.js'

const folder = suiteFolder()
const env = {HOME: folder, SVC_SPEECH_THREADS: '1'}

/** Starts a server in a workspace with `hello.wav`, and waits until it is ready. */
async function serve(t: TestContext, args: readonly string[] = []) {
  await copyFile(projectFile('examples/hello.wav'), join(folder, 'hello.wav'))
  const running = startSvc(['speech', 'serve', '--port', '0', '--json', ...args], {cwd: folder, env})
  t.after(() => running.kill('SIGKILL'))
  const [line] = (await once(createInterface({input: running.stdout as NodeJS.ReadableStream}), 'line')) as [string]
  const ready = JSON.parse(line) as {base_url: string}
  return {
    running,
    ready,
    transcribe: async (body: object) => {
      const response = await fetch(`${ready.base_url}/api/audio/transcribe`, {
        method: 'POST',
        headers: {'content-type': 'application/json'},
        body: JSON.stringify(body),
      })
      return (await response.json()) as {text: string; clarification_recommended: boolean}
    },
  }
}

describe('svc speech serve', () => {
  it('serves recordings of the workspace until SIGTERM', async (t) => {
    const {running, ready, transcribe} = await serve(t)
    assert.deepEqual(await contractViolations('cli/speech-ready.v1', ready), [])
    assert.equal((await transcribe({path: 'hello.wav'})).text, 'hello and welcome to your own machine')
    running.kill('SIGTERM')
    assert.equal((await running).exitCode, 0)
  })

  it('uses edited settings for the next request, and ignores an invalid file with a warning', async (t) => {
    const path = join(folder, 'Svc.toml')
    await writeFile(path, '[speech]\ntool_route_min_confidence = 0.1\n')
    const {running, transcribe} = await serve(t)
    assert.equal((await transcribe({path: 'hello.wav'})).clarification_recommended, false)
    await writeFile(path, '[speech]\ntool_route_min_confidence = 0.99\n')
    assert.equal((await transcribe({path: 'hello.wav'})).clarification_recommended, true)
    await writeFile(path, '[speech\n')
    assert.equal((await transcribe({path: 'hello.wav'})).clarification_recommended, true)
    running.kill('SIGTERM')
    assert.match(String((await running).stderr), /warning: Changes in .*Svc\.toml are ignored: /)
  })

  it('requires a token on an address of the network', async () => {
    const {stderr, exitCode} = await svcInTurn(['speech', 'serve', '--host', '0.0.0.0', '--port', '0'], {cwd: '/', env})
    assert.match(stderr, /requires a token in SVC_SPEECH_TOKEN\. \(app_unprotected\)/)
    assert.equal(exitCode, 2)
  })
})
