/** A thread that answers requests which only read. See `read-thread.ts`. */
import {parentPort, workerData} from 'node:worker_threads'
import {SvcError} from '../errors/index.js'
import {Application, checkProgram, type Route} from '../lang/index.js'
import {asRecord} from '../thread/index.js'
import {argumentReader} from './parameters.js'
import type {ReadMessage, ReadQuestion, ReadThreadStart} from './read-thread.js'
import {type Answer, answerOf, answerOfFailure} from './reply.js'

const {source, path} = workerData as ReadThreadStart
if (parentPort === null) throw new Error('read-worker.js runs in a worker thread.')
const parent = parentPort
const say = (message: ReadMessage) => parent.postMessage(message)

async function answer(application: Application, {route: at, sources, facts, requestId}: ReadQuestion): Promise<Answer> {
  try {
    const route = application.program.routes[at] as Route
    const reply = await application.call(route.function, argumentReader(route)(sources), facts)
    return answerOf(route, reply, requestId)
  } catch (error) {
    const known = answerOfFailure(error, requestId)
    if (known === undefined) throw error
    return known
  }
}

try {
  const log: ReadMessage & {type: 'log'} = {type: 'log', level: 'info', text: ''}
  const application = await Application.open(checkProgram(source), {
    path,
    ports: {env: process.env, log: (level, text) => say({...log, level, text})},
  })
  parent.on('message', async (question: ReadQuestion) =>
    say({type: 'answer', answer: await answer(application, question)}),
  )
  parent.postMessage({type: 'ready', description: undefined})
} catch (error) {
  const failure = (reason: string, cause?: unknown) => new SvcError('internal', {reason}, {cause})
  parent.postMessage({type: 'failed', error: asRecord(error, failure)})
}
