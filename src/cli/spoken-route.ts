import {createInterface} from 'node:readline/promises'
import {Flags} from '@oclif/core'
import type {Route, RouteResult} from '../voice/index.js'
import {plain} from './cell-text.js'
import {inGroup} from './flag-groups.js'

/** What happens to the text of live speech. */
export const routeFlags = inGroup('route', {
  route: Flags.option({
    description:
      'Use of each utterance: call an operation by its name (tool), ask the configured model (chat), or submit a task (orchestrator).',
    options: ['none', 'tool', 'chat', 'orchestrator'] as const,
    default: 'none',
  })(),
  'confirm-route': Flags.boolean({
    description: 'Ask before something is changed; without a terminal, nothing is changed. (default: on)',
    default: true,
    allowNo: true,
  }),
  polish: Flags.boolean({
    description: 'Correct uncertain text with the configured model. (env: SVC_SPEECH_LLM_REFINEMENT_DEFAULT)',
    allowNo: true,
  }),
  'emit-asr-refine': Flags.string({
    description: 'File to append the recognised and the final text to, as lines of JSON.',
    helpValue: 'FILE',
  }),
})

/** The result of a route, for standard output; empty if there is none. */
export function formatRoute({mode, action, status, payload}: Route): string {
  if (status === 'executed') {
    if (mode === 'chat') return `${plain(String(payload.response))}\n`
    if (payload.summary !== undefined) return `${plain(String(payload.summary))}\n`
    return `${JSON.stringify(payload.result, null, 2)}\n`
  }
  if (status === 'intent_matched') return `${action}\n`
  return mode === 'orchestrator' && payload.display_id !== undefined ? `${String(payload.display_id)}\n` : ''
}

/** The error of a route that failed, such as that of a model server that does not answer. */
export const errorOf = ({route: {payload}}: Pick<RouteResult, 'route'>) =>
  payload.error as {code: string; message: string} | undefined

/** What the user should know besides the result. */
export function noticeOf({route: {mode, status, payload}, question}: Pick<RouteResult, 'route' | 'question'>) {
  if (status === 'no_route' || status === 'no_op_empty_transcript') return undefined
  const isDone = status === 'executed' || (mode === 'orchestrator' && status === 'queued')
  return isDone ? undefined : (question ?? String(payload.note))
}

/** Asks a question on the terminal; undefined if standard input is not a terminal. */
export async function askTerminal(question: string, signal: AbortSignal): Promise<string | undefined> {
  if (!process.stdin.isTTY) return undefined
  const terminal = createInterface({input: process.stdin, output: process.stderr})
  try {
    return (await terminal.question(question, {signal})).trim()
  } catch (error) {
    // Ctrl-C ends the session; it is not an answer.
    if (signal.aborted) return undefined
    throw error
  } finally {
    terminal.close()
  }
}

/** Asks which option of an ambiguous route is meant. Without an answer, the route is unchanged. */
export async function clarifyRoute(
  route: Route,
  ask: (question: string) => Promise<string | undefined>,
): Promise<Route> {
  const {message, options = []} = route.payload as {message?: string; options?: readonly string[]}
  if (route.mode !== 'clarify') return route
  const list = options.map((option, i) => `  ${i + 1}  ${plain(option)}\n`).join('')
  const chosen = options[Number(await ask(`${message}\n${list}Number: `)) - 1]
  if (chosen === undefined) return route
  return {
    mode: 'tool',
    action: route.action,
    status: 'clarified',
    payload: {selected: chosen, note: 'The user has chosen an error.'},
  }
}
