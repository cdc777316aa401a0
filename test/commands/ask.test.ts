import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type AskV1, contractViolations} from '../../src/contracts/index.js'
import {completion, openAiServer} from '../support/openai-server.js'
import {svcInTurn} from '../support/svc-in-turn.js'

describe('svc ask', () => {
  it('prints the best passage, its place and others', async () => {
    const {stdout, exitCode} = await svcInTurn(['ask', 'how', 'do', 'I', 'delete', 'a', 'model?'])
    assert.equal(exitCode, 0)
    assert.match(stdout, /^Models > Delete a model\n\n {4}\$ svc rm /)
    assert.match(stdout, /^From: .*docs\/models\.md$/m)
    assert.match(stdout, /^See also:\n {2}.*: svc rm --help$/m)
  })

  it('prints passages as JSON, from a question on standard input, too', async () => {
    const [given, piped] = await Promise.all([
      svcInTurn(['ask', '--json', 'what does port_in_use mean']),
      svcInTurn(['ask', '--json', '-'], {input: 'what does port_in_use mean\n'}),
    ])
    const result = JSON.parse(given.stdout) as AskV1
    assert.deepEqual(JSON.parse(piped.stdout), result)
    assert.deepEqual(await contractViolations('cli/ask.v1', result), [])
    assert.equal(result.answer, null)
    assert.equal(result.passages[0]?.page, 'svc explain port_in_use')
  })

  it('does not know what is not in the documentation', async () => {
    const {stdout, stderr, exitCode} = await svcInTurn(['ask', 'how do I bake bread'])
    assert.deepEqual([stdout, exitCode], ['', 3])
    assert.match(stderr, /I do not know: .*question_unknown/)
  })

  describe('with a model', () => {
    it('lets it answer from the passages, and removes commands that do not exist', async (test) => {
      const {baseUrl, calls} = await openAiServer(test, {
        answer: completion('Use `svc rm NAME` [1], or `svc model delete NAME` [2].'),
      })
      const env = {SVC_INFERENCE_URL: baseUrl, SVC_INFERENCE_MODEL: 'corrector'}
      const {stdout} = await svcInTurn(['ask', 'delete a model', '--json'], {env})
      assert.deepEqual((JSON.parse(stdout) as AskV1).answer, {
        model: 'corrector',
        text: 'Use `svc rm NAME` [1], or [removed] [2].',
        removed: ['svc model delete NAME'],
      })
      const [system, user] = calls.find(({body}) => body !== undefined)?.body?.messages ?? []
      assert.match(system?.content ?? '', /\[1\] Models > Delete a model\n/)
      assert.equal(user?.content, 'delete a model')
    })

    it('prints the passage if the model does not know, fails, or is not wanted', async (test) => {
      const unknowing = await openAiServer(test, {answer: completion('I do not know.')})
      const env = (url: string) => ({env: {SVC_INFERENCE_URL: url, SVC_INFERENCE_MODEL: 'corrector'}})
      const unknown = await svcInTurn(['ask', 'delete a model'], env(unknowing.baseUrl))
      assert.match(unknown.stdout, /^Models > Delete a model\n/)
      const failed = await svcInTurn(['ask', 'delete a model'], env('http://127.0.0.1:9'))
      assert.equal(failed.stdout, unknown.stdout)
      assert.match(failed.stderr, /The model corrector did not answer: /)
      const without = await svcInTurn(['ask', 'delete a model', '--no-model'], env('http://127.0.0.1:9'))
      assert.deepEqual([without.stdout, without.stderr], [unknown.stdout, ''])
    })
  })
})
