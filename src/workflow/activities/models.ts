import {SvcError} from '../../errors/index.js'
import {parseJson} from './exec.js'
import {type Executor, localEvent} from './executor.js'

/** Transcribes a recording in the workspace. */
export const transcribeExecutor: Executor<'transcribe'> = {
  type: 'work',
  async run({ports, name, args}, signal) {
    if (ports.transcribe === undefined)
      throw new SvcError('workflow_activity_failed', {
        activity: name,
        reason: 'speech recognition is not available here',
      })
    return {result: await ports.transcribe(args, signal), event: localEvent(name)}
  },
}

/** Asks the configured model. */
export const generateExecutor: Executor<'generate'> = {
  type: 'work',
  async run({ports, name, args}, signal) {
    const answer = await ports.generate(args, signal)
    const result = args.json ? {...answer, json: parseJson(name, withoutFence(answer.text))} : answer
    return {result, event: localEvent(name)}
  },
}

/** Models often put JSON in a fenced block although they are asked not to. */
const withoutFence = (text: string): string => /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text
