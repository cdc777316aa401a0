import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {modelEntry, modelList} from '../../../src/serve/openai/model.js'
import {servedModel} from '../samples.js'

describe('GET /v1/models', () => {
  const entry = {id: 'my-run', object: 'model', created: 1_767_607_872, owned_by: 'svc'}

  it('lists the served model', () => assert.deepEqual(modelList([entry]), {object: 'list', data: [entry]}))

  it('reports the creation time in integer seconds', () =>
    assert.deepEqual(modelEntry({...servedModel, modifiedAt: new Date('2026-01-05T10:11:12.999Z')}), entry))
})
