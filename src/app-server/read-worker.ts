/** A worker thread for read-only requests. See `read-thread.ts`. */
import {parentPort, workerData} from 'node:worker_threads'
import {type ErrorRecord, SvcError} from '../errors/index.js'
import {
  Application,
  checkProgram,
  fitsDatabase,
  type Ports,
  type RequestFacts,
  type Route,
  servedRoutes,
} from '../lang/index.js'
import {argumentReader, type ReadArguments, type Sources} from './parameters.js'
import {type Answer, answerOf, answerOfFailure} from './reply.js'

export interface ReadThreadStart {
  source: string
  path: string
}

export interface ReadQuestion {
  /** Index in the served routes of the program. */
  route: number
  sources: Sources
  facts: RequestFacts | undefined
  requestId: string
}

/** `failed` is an error of the catalogue, such as that of a changed schema. `log` contains the output of the program. */
export type ReadMessage =
  | {type: 'answer'; answer: Answer}
  | {type: 'failed'; error: ErrorRecord}
  | {type: 'log'; level: Parameters<Ports['log']>[0]; text: string}

const {source, path} = workerData as ReadThreadStart
if (parentPort === null) throw new Error('read-worker.js runs in a worker thread.')
const parent = parentPort
const send = (message: ReadMessage) => parent.postMessage(message)

interface Served {
  route: Route
  read: ReadArguments
}

async function respond(
  application: Application,
  {route, read}: Served,
  {sources, facts, requestId}: ReadQuestion,
): Promise<ReadMessage> {
  try {
    const reply = await application.call(route.function, read(sources), facts)
    return {type: 'answer', answer: answerOf(route, reply, requestId)}
  } catch (error) {
    if (error instanceof SvcError) return {type: 'failed', error: error.toRecord()}
    const known = answerOfFailure(error, requestId)
    if (known === undefined) throw error
    return {type: 'answer', answer: known}
  }
}

try {
  const application = await Application.open(checkProgram(source), {
    path,
    fits: fitsDatabase,
    ports: {env: process.env, log: (level, text) => send({type: 'log', level, text})},
  })
  const routes = servedRoutes(application.program.routes).map((route): Served => ({route, read: argumentReader(route)}))
  parent.on('message', async (question: ReadQuestion) =>
    send(await respond(application, routes[question.route] as Served, question)),
  )
  parent.postMessage({type: 'ready', description: undefined})
} catch (error) {
  parent.postMessage({type: 'failed', error: SvcError.from(error).toRecord()})
}
