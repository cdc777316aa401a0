import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {operations} from '../../src/operations/index.js'
import {confirmWith, spokenOperations} from '../../src/voice/spoken-operations.js'
import {unclear} from '../support/unclear.js'

describe('the operations that can be called by voice', () => {
  const spoken = new Map(spokenOperations(operations).map((each) => [each.name, each]))

  it('need at most one text or number', () => {
    assert.deepEqual(spoken.get('get_task'), {
      name: 'get_task',
      names: [
        ['show', 'task'],
        ['get', 'task'],
      ],
      isRead: true,
      argument: {name: 'task_id', type: 'integer'},
    })
    assert.deepEqual(spoken.get('submit_task')?.argument, {name: 'description', type: 'string'})
    assert.equal(spoken.get('list_tasks')?.argument, undefined)
    assert.equal(spoken.get('context_set'), undefined, 'it needs a key and a value')
  })

  it('do not include those of speech itself', () => {
    for (const name of ['transcribe', 'listen', 'speech_status']) assert.equal(spoken.get(name), undefined)
  })

  it('have different names', () => {
    const titles = [...spoken.values()].map(({names: [title = []]}) => title.join(' '))
    assert.equal(new Set(titles).size, titles.length)
  })
})

describe('a confirmation', () => {
  it('comes from the person behind the caller', async () => {
    const asked: string[] = []
    const confirm = confirmWith({
      ask: async ({message}) => {
        asked.push(message)
        return {confirm: asked.length > 1}
      },
    })
    assert.deepEqual([await confirm('Run it?', 'call'), await confirm('Run it?', 'call')], [false, true])
    assert.deepEqual(asked, ['Run it?', 'Run it?'])
  })

  it('is missing if the answer is not clear', async () => {
    for (const confirm of unclear)
      assert.equal(await confirmWith({ask: async () => ({confirm})})('Run it?', 'call'), false)
  })

  it('is missing if no one can be asked, except for a task, which the caller asked for', async () => {
    const confirm = confirmWith({ask: undefined})
    assert.deepEqual([await confirm('Run it?', 'call'), await confirm('Submit it?', 'submit')], [false, true])
  })
})
