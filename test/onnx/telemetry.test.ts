import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {execa} from 'execa'
import {projectFile} from '../support/project.js'
import {svc} from '../support/svc.js'
import {temporaryFolder} from '../support/temporary.js'

/** Folder in which ONNX Runtime stores telemetry before it is sent. */
const telemetryFolder = (home: string) => join(home, '.cache', 'Microsoft')

describe('the telemetry of ONNX Runtime', () => {
  it('is disabled in the worker thread of a command', async (test) => {
    const home = await temporaryFolder(test)
    const {exitCode, stderr} = await svc(['transcribe', projectFile('examples/hello.wav'), '--model', 'starter'], {
      cwd: home,
      env: {HOME: home, TMPDIR: home},
    })
    assert.equal(exitCode, 0, stderr)
    assert.equal(existsSync(telemetryFolder(home)), false)
  })

  it('is disabled in a program that imports the module', async (test) => {
    const home = await temporaryFolder(test)
    const module = projectFile('dist/src/onnx/index.js')
    const script = `const {openSession} = await import(${JSON.stringify(module)})
      console.log(typeof openSession, process.env.ORT_DISABLE_TELEMETRY)`
    const {stdout} = await execa(process.execPath, ['--input-type=module', '-e', script], {
      extendEnv: false,
      env: {HOME: home, TMPDIR: home, PATH: process.env.PATH ?? ''},
    })
    assert.equal(stdout, 'function 1')
    assert.deepEqual(await readdir(home), [])
  })
})
