import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {isErrorOf} from '../../../src/errors/index.js'
import {meshStatus} from '../../../src/mesh/index.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'
import {problem, reply, scriptedControlPlane} from '../client/support/scripted-control-plane.js'

const {signal} = new AbortController()

describe('meshStatus', () => {
  for (const [status, state] of [
    [401, 'denied'],
    [403, 'denied'],
    [404, 'unreachable'],
    [429, 'unreachable'],
    [503, 'unreachable'],
  ] as const)
    it(`is ${state} if a healthy control plane returns ${status}`, async (t) => {
      const plane = await scriptedControlPlane(t, (response, {route}) =>
        route === 'GET /health' ? reply(response, 200, {}) : problem(response, status, 'the_code'),
      )
      const sources = {env: {HOME: await temporaryFolder(t)}}
      const result = await meshStatus(sources, {client: plane.connect(), version: '1.0.0', signal})
      assert.deepEqual([result.state, result.health_ok, result.queue], [state, true, null])
      assert.notEqual(result.error, null)
    })

  it('fails if the stored node id is invalid', async (t) => {
    const home = await temporaryFolder(t)
    await writeFiles(home, {'.svc/mesh/node-id': 'no id\nat all\n'})
    await assert.rejects(
      meshStatus({env: {HOME: home}}, {client: undefined, version: '1.0.0', signal}),
      (error) => isErrorOf(error, 'file_unreadable') && error.message.includes('node-id'),
    )
  })
})
