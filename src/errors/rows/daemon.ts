import {conflict, Exit, type ExitStatus, failed, notFound, rows, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** What a daemon answered that knows errors which this program does not. */
const answered = (exit: ExitStatus, http: number) => ({
  exit,
  http,
  message: (p: {message: string}) => p.message,
  hint: 'The sentence comes from the daemon, which is of another version than this program.',
})

/** Errors of the daemon and of those who call it. */
export const daemonErrors = rows(() => ({
  request_unparsable: usage({
    message: (p: {reason: string}) => `invalid request: ${p.reason}`,
    hint: 'Send one JSON object per line, as UTF-8.',
  }),
  request_invalid: usage({
    message: (p: {reason: string}) => `invalid request: ${p.reason}`,
    hint: 'Send an id, a method and params, or a request of JSON-RPC 2.0.',
  }),
  request_too_long: usage({
    http: 413,
    message: (p: {limit: number}) => `invalid request: the line is longer than ${p.limit} bytes`,
    hint: 'The line was skipped; send less in one request.',
  }),
  batch_answer_too_large: usage({
    http: 413,
    message: (p: {limit: number}) => `The answers of this batch are larger than ${p.limit} characters together.`,
    hint: 'This request was not performed; send it in a batch of its own.',
  }),
  method_unknown: notFound({
    message: (p: {method: string; suggestion?: string | undefined}) =>
      `There is no method ${p.method}.${didYouMean(p.suggestion)}`,
    hint: 'Call orch.methods to list the methods.',
  }),
  subscription_not_found: notFound({
    message: (p: {subscription: string}) => `This connection has no subscription ${p.subscription}.`,
    hint: 'Subscriptions end with the connection that made them.',
  }),
  subscriptions_exhausted: unavailable({
    http: 429,
    message: (p: {limit: number}) => `One connection has ${p.limit} subscriptions at most.`,
    hint: 'End one of them first, or subscribe once to several types.',
  }),
  daemon_token_refused: conflict({
    http: 403,
    message: () => 'The daemon wants its token first, and this is not it.',
    hint: 'Begin with orch.hello and the token; the commands of svc take it from SVC_DAEMON_TOKEN.',
  }),
  daemon_full: unavailable({
    message: (p: {limit: number}) => `The daemon has ${p.limit} connections, and no more are allowed.`,
    hint: 'Close those that are not needed, and try again.',
  }),
  daemon_address_invalid: usage({
    message: (p: {address: string}) => `${JSON.stringify(p.address)} is no address for a daemon.`,
    hint: 'Give HOST:PORT, such as 127.0.0.1:9745 or [::1]:0, or stdio.',
  }),
  daemon_address_in_use: unavailable({
    http: 500,
    message: (p: {address: string}) => `Another process listens on ${p.address} already.`,
    hint: 'Stop that process, or give another port with --listen, where 0 takes a free one.',
  }),
  daemon_address_unavailable: usage({
    http: 500,
    message: (p: {address: string; reason: string}) => `Cannot listen on ${p.address}: ${p.reason}.`,
    hint: 'Give an address of this machine, for example --listen 127.0.0.1:0.',
  }),
  daemon_exposed: usage({
    http: 403,
    message: (p: {address: string; missing: readonly string[]}) =>
      `Other machines could reach ${p.address}, and that takes ${p.missing.join(' and ')}.`,
    hint: 'Listen on 127.0.0.1, or give --allow-remote and set SVC_DAEMON_TOKEN to 16 characters or more.',
  }),
  daemon_not_running: notFound({
    message: () => 'No daemon runs in this workspace.',
    hint: 'Start one with svc daemon start, or svc daemon run.',
  }),
  daemon_silent: conflict({
    message: (p: {pid: number}) => `The daemon of this workspace, process ${p.pid}, answers no requests.`,
    hint: 'Start it with --listen, or with svc daemon start, which does so by itself.',
  }),
  daemon_died: failed({
    message: (p: {ended: string; log: string; tail: string}) =>
      `The daemon ended (${p.ended}) before it was ready${p.tail === '' ? '' : `: ${p.tail}`}`,
    hint: (p: {ended: string; log: string; tail: string}) => `All of what it said stands in ${p.log}.`,
  }),
  daemon_start_timeout: unavailable({
    http: 504,
    message: (p: {seconds: number; log: string}) => `The daemon was not ready after ${p.seconds} s, and was ended.`,
    hint: (p: {seconds: number; log: string}) => `See ${p.log}, or allow more time with --timeout.`,
  }),
  daemon_stop_timeout: unavailable({
    http: 504,
    message: (p: {pid: number; seconds: number}) => `The daemon, process ${p.pid}, still ends after ${p.seconds} s.`,
    hint: 'It lets its tasks end first; allow more time with --timeout.',
  }),
  daemon_connection_lost: unavailable({
    http: 502,
    message: (p: {address: string}) => `The daemon at ${p.address} closed the connection.`,
    hint: 'See with svc daemon status whether it still runs.',
  }),
  daemon_answer_invalid: failed({
    http: 502,
    message: (p: {address: string}) => `What listens on ${p.address} does not speak as a daemon does.`,
    hint: 'Check the address in SVC_ORCHESTRATOR_DAEMON_SOCKET.',
  }),
  call_invalid: answered(Exit.usage, 400),
  call_not_found: answered(Exit.notFound, 404),
  call_refused: answered(Exit.conflict, 409),
  call_unavailable: answered(Exit.unavailable, 503),
  call_failed: answered(Exit.failed, 500),
}))
