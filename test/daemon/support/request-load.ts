import assert from 'node:assert/strict'
import {before, describe, it} from 'node:test'
import {Peer, type Reply, startTestDaemon} from './daemon.js'
import {ping, say, submit} from './requests.js'
import {suiteLifetime} from './suite-lifetime.js'

/** Numbers of requests. */
export interface RequestLoad {
  ofOne: number
  clients: number
  /** Requests per client. */
  ofEach: number
  /** Enough that the daemon can run a task meanwhile. */
  ofBusy: number
}

const taskIdOf = ({result}: Reply) => (result as {task_id: number}).task_id

export function describeRequestLoad({ofOne, clients, ofEach, ofBusy}: RequestLoad): void {
  describe('many daemon requests', {concurrency: false}, () => {
    const suite = suiteLifetime()
    let addr = ''
    before(async () => {
      addr = (await startTestDaemon(suite)).addr
    })

    it('of one connection are answered in order', async (t) => {
      const peer = await Peer.connect(t, addr)
      const count = ofOne
      const requests = Array.from({length: count}, (_, i) =>
        i % 3 === 0 ? submit(i) : i % 3 === 1 ? ping(i) : {...ping(i), method: 'orch.agent_ids'},
      )
      peer.send(...requests)
      const answers = await peer.nextOf(count)
      assert.deepEqual(
        answers.map(({id}) => id),
        requests.map(({id}) => id),
      )
      const ids = answers.filter((_, i) => i % 3 === 0).map(taskIdOf)
      assert.deepEqual(
        ids,
        [...ids].sort((a, b) => a - b),
      )
    })

    it('of many connections are each executed once', async (t) => {
      const peers = await Promise.all(Array.from({length: clients}, () => Peer.connect(t, addr)))
      const ids = await Promise.all(
        peers.map(async (peer, n) => {
          peer.send(...Array.from({length: ofEach}, (_, i) => submit(`${n}-${i}`, `task ${i} of ${n}`)))
          const answers = await peer.nextOf(ofEach)
          assert.deepEqual(
            answers.map(({id}) => id),
            Array.from({length: ofEach}, (_, i) => `${n}-${i}`),
          )
          return answers.map(taskIdOf)
        }),
      )
      assert.equal(new Set(ids.flat()).size, clients * ofEach)
    })

    it('of a busy connection delay neither other clients nor the scheduler', async (t) => {
      const {workspace, addr} = await startTestDaemon(t)
      const [busy, other] = [await Peer.connect(t, addr), await Peer.connect(t, addr)]
      const {task_id} = await other.call<{task_id: number}>('orch.submit_task', say)
      const count = ofBusy
      busy.send(...Array.from({length: count}, (_, i) => submit(i)))
      let answers = 0
      let isOver = false
      const answered = busy.nextOf(count).then(() => {
        isOver = true
      })
      let status = ''
      while (!isOver) {
        status = (await other.call<{status: string}>('orch.task_status', {task_id})).status
        answers++
      }
      await answered
      assert.equal(status, 'Completed', 'the loop ran a task in the meantime')
      assert.ok(answers > 20, `${answers} answers meanwhile`)
      assert.equal((await workspace.status()).total_queued, count)
    })
  })
}
