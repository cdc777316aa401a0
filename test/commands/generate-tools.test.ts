import assert from 'node:assert/strict'
import {before, describe, it} from 'node:test'
import {chatml} from '../../src/text/index.js'
import {svc} from '../support/svc.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {tinyModelFiles} from '../support/tiny-model.js'

const parameters = {type: 'object', properties: {zone: {enum: ['utc', 'local']}}, required: ['zone']}
const clock = {type: 'function', function: {name: 'clock', description: 'Returns the time', parameters}}

describe('svc generate --tools', () => {
  const folder = suiteFolder()
  before(() =>
    writeFiles(folder, {
      ...tinyModelFiles({contextLength: 2048}),
      'generation_config.json': '{"eos_token_id": 256}',
      'chat_template.jinja': chatml,
      'tools.json': JSON.stringify([clock]),
      'bare.json': JSON.stringify([{name: 'stop'}, clock.function]),
      'wrong.json': '[{"type": "function"}]',
    }),
  )
  const args = (file: string, ...others: string[]) => [
    ...[
      'generate',
      '--model',
      folder,
      '--seed',
      '1',
      '--threads',
      '1',
      '--tools',
      `${folder}/${file}`,
      ...others,
      'Hi',
    ],
  ]

  it('prints each call as a line of JSON', async () => {
    const {stdout} = await svc(args('bare.json', '--tool-choice', 'clock'))
    const {name, arguments: values} = JSON.parse(stdout)
    assert.equal(name, 'clock')
    assert.ok(['utc', 'local'].includes(values.zone))
    assert.equal(stdout.split('\n').length, 2)
  })

  it('has the calls in the result with --json', async () => {
    const {stdout} = await svc(args('tools.json', '--tool-choice', 'required', '--max-tokens', '400', '--json'))
    const {text, tool_calls: calls} = JSON.parse(stdout)
    assert.equal(text, '')
    assert.ok(calls.every((call: {name: string}) => call.name === 'clock'))
    assert.ok(calls.length > 0)
  })

  const wrong: readonly (readonly [file: string, choice: string, message: RegExp])[] = [
    ['wrong.json', 'auto', /tool 1 must be a function with a name/],
    ['tools.json', 'watch', /There is no tool watch in the list/],
  ]
  for (const [file, choice, message] of wrong)
    it(`refuses ${file} with ${choice}`, async () => {
      const {stderr, exitCode} = await svc(args(file, '--tool-choice', choice))
      assert.notEqual(exitCode, 0)
      assert.match(stderr, message)
    })
})
