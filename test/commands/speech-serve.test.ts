import assert from 'node:assert/strict'
import {once} from 'node:events'
import {copyFile, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {get as httpsGet} from 'node:https'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {describe, it, type TestContext} from 'node:test'
import WebSocket from 'ws'
import {contractViolations} from '../../src/contracts/index.js'
import {skipWithoutProgram} from '../support/programs.js'
import {projectFile} from '../support/project.js'
import {selfSigned} from '../support/self-signed.js'
import {readClip} from '../support/sounds.js'
import {startSvc} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder} from '../support/temporary.js'
import {svcOnTerminal} from '../support/terminal.js'
import {until} from '../support/until.js'

const folder = suiteFolder()
const env = {HOME: folder, SVC_SPEECH_THREADS: '1'}

/** Starts a server in a workspace with `hello.wav`, and waits until it is ready. */
async function serve(t: TestContext, args: readonly string[] = [], more: Readonly<Record<string, string>> = {}) {
  await copyFile(projectFile('examples/hello.wav'), join(folder, 'hello.wav'))
  const running = startSvc(['speech', 'serve', '--json', ...args], {
    cwd: folder,
    env: {...env, SVC_DASH_PORT: '0', ...more},
  })
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

/** The bytes of all files below a directory. */
async function contents(directory: string): Promise<Buffer> {
  const entries = await readdir(directory, {recursive: true, withFileTypes: true})
  const files = entries.filter((entry) => entry.isFile()).map(({parentPath, name}) => join(parentPath, name))
  return Buffer.concat(await Promise.all(files.map((file) => readFile(file))))
}

describe('svc speech serve', () => {
  it('serves recordings of the workspace at SVC_DASH_HOST and SVC_DASH_PORT until SIGTERM', async (t) => {
    const {running, ready, transcribe} = await serve(t, [], {SVC_DASH_HOST: '127.0.0.2'})
    assert.match(ready.base_url, /^http:\/\/127\.0\.0\.2:(?!3847)/)
    assert.deepEqual(await contractViolations('cli/speech-ready.v1', ready), [])
    assert.equal((await transcribe({path: 'hello.wav'})).text, 'hello and welcome to your own machine')
    running.kill('SIGTERM')
    assert.equal((await running).exitCode, 0)
  })

  it('uses edited settings for the next request, and ignores an invalid file with a warning', async (t) => {
    const path = join(folder, 'Svc.toml')
    t.after(() => rm(path))
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

  it('serves HTTPS with the configured certificate, and never prints the token without a terminal', async (t) => {
    const {cert, key} = selfSigned()
    const [certPath, keyPath] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    await writeFile(certPath, cert)
    await writeFile(keyPath, key)
    const token = 'sesame-sesame-sesame'
    const {running, ready} = await serve(t, ['--host', '0.0.0.0', '--tls-cert', certPath], {
      SVC_SPEECH_TLS_KEY_PATH: keyPath,
      SVC_SPEECH_TOKEN: token,
      SVC_LOG: 'debug',
    })
    const {port} = new URL(ready.base_url)
    const status = await new Promise((resolve, reject) => {
      httpsGet(`https://127.0.0.1:${port}/health`, {ca: cert, agent: false}, ({statusCode}) => resolve(statusCode))
        .on('error', reject)
        .end()
    })
    assert.equal(status, 200)
    running.kill('SIGTERM')
    const {stdout, stderr} = await running
    assert.doesNotMatch(String(stderr), /not encrypted/)
    assert.ok(!`${stdout}${stderr}`.includes(token))
    for (const [args, code] of [
      [['--tls-cert', certPath], 'tls_unusable'],
      [['--tls-cert', certPath, '--tls-key', certPath], 'tls_unusable'],
      [['--tls-cert', certPath, '--tls-key', join(folder, 'none.pem')], 'file_not_found'],
    ] as const) {
      const refused = await svcInTurn(['speech', 'serve', '--port', '0', '--json', ...args], {cwd: folder, env})
      assert.equal(JSON.parse(refused.stdout).error.code, code, args.join(' '))
    }
  })

  it('prints the address of the page with the token on a terminal', {skip: skipWithoutProgram('script')}, async (t) => {
    const terminal = svcOnTerminal(t, ['speech', 'serve', '--port', '0'], {
      cwd: folder,
      env: {...env, SVC_SPEECH_TOKEN: 'sesame+sesame-sesame'},
    })
    await terminal.shows(/#token=\S+\s/)
    assert.match(terminal.shown(), /^Page: http:\/\/127\.0\.0\.1:\d+\/#token=sesame%2Bsesame-sesame\r$/m)
  })

  it('leaves no audio or text of a session in its logs, nor in files after it has expired', async (t) => {
    const {running, ready} = await serve(t, [], {SVC_SPEECH_SESSION_TTL_SECS: '1', RUST_LOG: 'trace'})
    const samples = await readClip(projectFile('examples/hello.wav'))
    const audio = Buffer.from(Int16Array.from(samples, (x) => Math.round(32_767 * x)).buffer)
    const socket = new WebSocket(`${ready.base_url.replace('http', 'ws')}/api/audio/transcribe/stream?continuous=1`)
    await once(socket, 'open')
    socket.send(audio)
    socket.send('{"op": "commit"}')
    const texts: string[] = []
    socket.on('message', (data) => texts.push(String(data)))
    await until(() => texts.some((text) => text.includes('"final"')), 'the final result')
    // The second utterance stays without a result.
    socket.send(audio.subarray(0, 50_000))
    const sessions = join(folder, '.svc', 'speech-sessions')
    const files = () => readdir(sessions, {recursive: true})
    await until(async () => (await files()).some((name) => name.endsWith('.pcm')), 'the audio is stored')
    assert.ok((await contents(sessions)).includes('welcome'), 'the result is stored')
    socket.terminate()
    // Its folder, which the server is deleting, is not read.
    const isSession = (name: string) => name.startsWith('speech-')
    await until(async () => !(await readdir(sessions)).some(isSession), 'the session has expired')
    running.kill('SIGTERM')
    const {stdout, stderr} = await running
    const left = Buffer.concat([await contents(join(folder, '.svc')), Buffer.from(`${stdout}${stderr}`)])
    assert.ok(!left.includes('welcome'))
    assert.ok(!left.includes(audio.subarray(20_000, 20_064)))
  })

  it('requires a token on an address of the network', async () => {
    const {stderr, exitCode} = await svcInTurn(['speech', 'serve', '--host', '0.0.0.0', '--port', '0'], {cwd: '/', env})
    assert.match(stderr, /requires a token in SVC_SPEECH_TOKEN\. \(app_unprotected\)/)
    assert.equal(exitCode, 2)
  })
})
