/** A worker thread for read-only requests. See `read-thread.ts`. */
import {parentPort, workerData} from 'node:worker_threads'
import {SvcError} from '../errors/index.js'
import {Application, checkProgram, type Ports, type RequestFacts, type Route} from '../lang/index.js'
import {argumentReader, type ReadArguments, type Sources} from './parameters.js'
import {type Answer, answerOf, answerOfFailure} from './reply.js'

export interface ReadThreadStart {
  source: string
  path: string
}

export interface ReadQuestion {
  /** Index of the route in the program. */
  route: number
  sources: Sources
  facts: RequestFacts | undefined
  requestId: string
}

/** `log` contains the output of the program. */
export type ReadMessage =
  | {type: 'answer'; answer: Answer}
  | {type: 'log'; level: Parameters<Ports['log']>[0]; text: string}

const {source, path} = workerData as ReadThreadStart
if (parentPort === null) throw new Error('read-worker.js runs in a worker thread.')
const parent = parentPort
const send = (message: ReadMessage) => parent.postMessage(message)

interface Served {
  route: Route
  read: ReadArguments
}

async function answer(
  application: Application,
  {route, read}: Served,
  {sources, facts, requestId}: ReadQuestion,
): Promise<Answer> {
  try {
    const reply = await application.call(route.function, read(sources), facts)
    return answerOf(route, reply, requestId)
  } catch (error) {
    const known = answerOfFailure(error, requestId)
    if (known === undefined) throw error
    return known
  }
}

try {
  const application = await Application.open(checkProgram(source), {
    path,
    ports: {env: process.env, log: (level, text) => send({type: 'log', level, text})},
  })
  const routes = application.program.routes.map((route): Served => ({route, read: argumentReader(route)}))
  parent.on('message', async (question: ReadQuestion) =>
    send({type: 'answer', answer: await answer(application, routes[question.route] as Served, question)}),
  )
  parent.postMessage({type: 'ready', description: undefined})
} catch (error) {
  parent.postMessage({type: 'failed', error: SvcError.from(error).toRecord()})
}
