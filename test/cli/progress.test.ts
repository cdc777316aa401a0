import assert from 'node:assert/strict'
import {before, describe, it, type TestContext} from 'node:test'
import {skipWithoutProgram} from '../support/programs.js'
import {svc, svcBinary} from '../support/svc.js'
import {suiteFolder} from '../support/temporary.js'
import {startTerminal} from '../support/terminal.js'
import {writeTinyModel} from '../support/tiny-model.js'

describe('progress', {skip: skipWithoutProgram('script')}, () => {
  const model = suiteFolder()
  before(() => writeTinyModel(model))
  const command = () => `"${process.execPath}" "${svcBinary}" generate -m "${model}" --raw --max-tokens 2 Hi`

  const onTerminal = async (test: TestContext, line: string) => (await startTerminal(test, line).ended).output

  it('is shown on a terminal while a model loads, even if standard output is redirected', async (test) => {
    assert.match(await onTerminal(test, command()), /Loading the model/)
    assert.match(await onTerminal(test, `${command()} >/dev/null`), /Loading the model/)
  })

  it('is not shown with --quiet or if standard error is not a terminal', async (test) => {
    assert.doesNotMatch(await onTerminal(test, `${command()} --quiet`), /Loading/)
    assert.doesNotMatch(await onTerminal(test, `${command()} 2>/dev/null`), /Loading/)
    const {stdout, stderr} = await svc(['generate', '-m', model, '--raw', '--max-tokens', '2', 'Hi'])
    assert.doesNotMatch(stdout + stderr, /Loading/)
  })
})
