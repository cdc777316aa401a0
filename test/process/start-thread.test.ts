import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {SvcError} from '../../src/errors/index.js'
import {type Failure, startThread} from '../../src/process/index.js'

const failure: Failure = (reason) => new SvcError('usage', {reason})

const start = (source: string, signal?: AbortSignal) =>
  startThread<string>(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {data: 'data', failure, signal})

const greet = `import {parentPort, workerData} from 'node:worker_threads'
parentPort.postMessage({type: 'ready', description: 'has ' + workerData})`

describe('startThread', () => {
  it('returns the description of a ready thread', async () => {
    const {description, exited, loadMs} = await start(greet)
    assert.equal(description, 'has data')
    assert.ok(loadMs > 0)
    await exited
  })

  it('reports the progress of a start before its description', async () => {
    const source = `import {parentPort} from 'node:worker_threads'
for (const message of [{type: 'progress', progress: 1}, {type: 'progress', progress: 2}, {type: 'ready', description: 3}])
  parentPort.postMessage(message)`
    const reports: number[] = []
    const program = new URL(`data:text/javascript,${encodeURIComponent(source)}`)
    const onProgress = (progress: number) => reports.push(progress)
    const {description} = await startThread<number, number>(program, {data: undefined, failure, onProgress})
    assert.deepEqual([...reports, description], [1, 2, 3])
    const abort = new AbortController()
    const reason = new SvcError('terminated', {})
    const aborting = {data: undefined, failure, signal: abort.signal, onProgress: () => abort.abort(reason)}
    await assert.rejects(startThread(program, aborting), (error) => error === reason)
  })

  it('fails with the message of a thread that throws before it is ready', async () => {
    await assert.rejects(start('throw new Error("broken")'), {code: 'usage', message: /broken/})
  })

  it('fails with the reason of the signal if it aborts first', async () => {
    const reason = new SvcError('terminated', {})
    const abort = new AbortController()
    const starting = start('setInterval(() => {}, 1000)', abort.signal)
    setTimeout(() => abort.abort(reason), 20)
    await assert.rejects(starting, (error) => error === reason)
  })

  it('lets a thread that ends on request finish a call that must not be interrupted', async () => {
    const source = `import {parentPort, workerData} from 'node:worker_threads'
import {endOnRequest} from '${new URL('../../src/process/index.js', import.meta.url)}'
endOnRequest(parentPort)
parentPort.postMessage({type: 'progress', progress: 1})
Atomics.wait(workerData, 0, 0, 200)
Atomics.store(workerData, 1, 1)
setInterval(() => {}, 1000)`
    const data = new Int32Array(new SharedArrayBuffer(8))
    const abort = new AbortController()
    const reason = new SvcError('terminated', {})
    const onProgress = () => abort.abort(reason)
    const program = new URL(`data:text/javascript,${encodeURIComponent(source)}`)
    const starting = startThread(program, {data, failure, signal: abort.signal, endsOnRequest: true, onProgress})
    await assert.rejects(starting, (error) => error === reason)
    assert.equal(data[1], 1)
  })
})
