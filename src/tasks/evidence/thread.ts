/** Worker thread that inspects files. See `inspector.ts`. */
import {parentPort} from 'node:worker_threads'
import {SvcError} from '../../errors/index.js'
import {asRecord, type Greeting, type ThreadAnswer} from '../../process/index.js'
import {type BaselineFile, type Inspected, type Inspection, inspect, takeBaseline} from './inspect.js'

export type Question = {inspection: Inspection} | {root: string; paths: readonly string[]}
export type Answer = {inspected: Inspected} | {baseline: BaselineFile[]}

if (parentPort === null) throw new Error('thread.js runs in a worker thread.')
const parent = parentPort

async function answer({id, ...question}: Question & {id: number}): Promise<ThreadAnswer<Answer>> {
  try {
    return 'inspection' in question
      ? {id, inspected: await inspect(question.inspection)}
      : {id, baseline: takeBaseline(question.root, question.paths)}
  } catch (error) {
    return {id, error: asRecord(error, (reason, cause) => new SvcError('internal', {reason}, {cause}))}
  }
}

parent.on(
  'message',
  (question: Question & {id: number}) => void answer(question).then((result) => parent.postMessage(result)),
)
parent.postMessage({type: 'ready', description: undefined} satisfies Greeting<undefined>)
