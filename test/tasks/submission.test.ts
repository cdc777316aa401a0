import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {longest} from '../../src/tasks/submission/submission.js'
import {openTestOrchestrator, refused} from '../orchestrator/support/open-test-orchestrator.js'
import {submit} from '../orchestrator/support/tasks.js'
import {projectFile} from '../support/project.js'

describe('the limits of a submission', async () => {
  const schema = JSON.parse(
    await readFile(projectFile('contracts/orchestration/submit-task.v1.schema.json'), 'utf8'),
  ) as {properties: Record<string, {maxLength?: number; properties?: Record<string, {maxLength?: number}>}>}
  const properties = {...schema.properties.enqueue_hints?.properties, ...schema.properties}

  it('match the contract', () => {
    const limits = Object.entries(properties).flatMap(([name, {maxLength}]) =>
      maxLength === undefined || name === 'description' ? [] : [[name, maxLength]],
    )
    assert.deepEqual(Object.fromEntries(limits), longest)
  })

  for (const [name, limit] of Object.entries(longest))
    it(`reject ${name} with one character too many`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const inHints = !(name in schema.properties)
      const of = (length: number) => {
        const member = {[name]: 'x'.repeat(length)}
        return inHints ? {enqueue_hints: member} : member
      }
      submit(orchestrator, of(limit))
      const {message} = refused('task_invalid', () => submit(orchestrator, of(limit + 1)))
      assert.match(message, new RegExp(`its ${name} has ${limit + 1} characters`))
    })
})
