import assert from 'node:assert/strict'
import {before, describe, it} from 'node:test'
import {execa} from 'execa'
import {skipWithoutProgram} from '../support/programs.js'
import {svc, svcBinary} from '../support/svc.js'
import {suiteFolder} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

/** Runs a command in an 80-column terminal of script(1). Returns everything it wrote to the terminal. */
async function onTerminal(command: string): Promise<string> {
  const {stdout} = await execa('script', ['--quiet', '--command', `stty cols 80 rows 24; ${command}`, '/dev/null'])
  return stdout
}

describe('progress', {skip: skipWithoutProgram('script')}, () => {
  const model = suiteFolder()
  before(() => writeTinyModel(model))
  const command = () => `"${process.execPath}" "${svcBinary}" generate -m "${model}" --raw --max-tokens 2 Hi`

  it('is shown on a terminal while a model loads, even if standard output is redirected', async () => {
    assert.match(await onTerminal(command()), /Loading the model/)
    assert.match(await onTerminal(`${command()} >/dev/null`), /Loading the model/)
  })

  it('is not shown with --quiet or if standard error is not a terminal', async () => {
    assert.doesNotMatch(await onTerminal(`${command()} --quiet`), /Loading/)
    assert.doesNotMatch(await onTerminal(`${command()} 2>/dev/null`), /Loading/)
    const {stdout, stderr} = await svc(['generate', '-m', model, '--raw', '--max-tokens', '2', 'Hi'])
    assert.doesNotMatch(stdout + stderr, /Loading/)
  })
})
