import {conflict, Exit, type ExitStatus, failed, notFound, rows, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** An error code of a daemon of another version, which this version does not know. */
const answered = (exit: ExitStatus, http: number) => ({
  exit,
  http,
  message: (p: {message: string}) => p.message,
  hint: 'The message comes from the daemon, which runs another version of svc. Restart it with this version.',
})

/** Errors of the daemon and its clients. */
export const daemonErrors = rows(() => ({
  request_unparsable: usage({
    message: (p: {reason: string}) => `invalid request: ${p.reason}`,
    hint: 'Send one JSON object per line, in UTF-8.',
  }),
  request_invalid: usage({
    message: (p: {reason: string}) => `invalid request: ${p.reason}`,
    hint: 'Send a JSON-RPC 2.0 request: id, method and params.',
  }),
  request_too_long: usage({
    http: 413,
    message: (p: {limit: number}) => `invalid request: the line is longer than ${p.limit} bytes`,
    hint: 'Send less data in one request. The line was skipped.',
  }),
  batch_answer_too_large: usage({
    http: 413,
    message: (p: {limit: number}) => `The answers of this batch exceed ${p.limit} characters.`,
    hint: 'Send this request in a separate batch. It was not performed.',
  }),
  method_unknown: notFound({
    message: (p: {method: string; suggestion?: string | undefined}) =>
      `Unknown method: ${p.method}.${didYouMean(p.suggestion)}`,
    hint: 'Call orch.methods to list the methods.',
  }),
  subscription_not_found: notFound({
    message: (p: {subscription: string}) => `Subscription not found on this connection: ${p.subscription}.`,
    hint: 'Subscribe again. A subscription ends with its connection.',
  }),
  subscriptions_exhausted: unavailable({
    http: 429,
    message: (p: {limit: number}) => `The limit of ${p.limit} subscriptions per connection is reached.`,
    hint: 'End a subscription first, or subscribe once to several types.',
  }),
  daemon_token_refused: conflict({
    http: 403,
    message: () => "The daemon's token is missing or wrong.",
    hint: 'Call orch.hello with the token first. Commands of svc read it from SVC_DAEMON_TOKEN.',
  }),
  daemon_full: unavailable({
    message: (p: {limit: number}) => `The daemon's limit of ${p.limit} connections is reached.`,
    hint: 'Close unused connections, and retry.',
  }),
  daemon_address_invalid: usage({
    message: (p: {address: string}) => `Invalid daemon address: ${JSON.stringify(p.address)}.`,
    hint: 'Use HOST:PORT, such as 127.0.0.1:9745 or [::1]:0, or stdio.',
  }),
  daemon_address_in_use: unavailable({
    http: 500,
    message: (p: {address: string}) => `Another process is listening on ${p.address}.`,
    hint: 'Stop that process, or pass another port to --listen; 0 picks a free one.',
  }),
  daemon_address_unavailable: usage({
    http: 500,
    message: (p: {address: string; reason: string}) => `Cannot listen on ${p.address}: ${p.reason}.`,
    hint: 'Use an address of this machine, for example --listen 127.0.0.1:0.',
  }),
  daemon_exposed: usage({
    http: 403,
    message: (p: {address: string; missing: readonly string[]}) =>
      `Listening on ${p.address} requires ${p.missing.join(' and ')}.`,
    hint: 'Listen on 127.0.0.1, or pass --allow-remote and set SVC_DAEMON_TOKEN to at least 16 characters.',
  }),
  daemon_not_running: notFound({
    message: () => 'No daemon is running in this workspace.',
    hint: 'Start one with svc daemon start.',
  }),
  daemon_silent: conflict({
    message: (p: {pid: number}) => `The daemon of this workspace (pid ${p.pid}) does not accept requests.`,
    hint: 'Stop it, and start it with svc daemon start, or with --listen.',
  }),
  daemon_died: failed({
    message: (p: {ended: string; log: string; tail: string}) =>
      `The daemon ended (${p.ended}) before it was ready${p.tail === '' ? '' : `: ${p.tail}`}`,
    hint: (p: {ended: string; log: string; tail: string}) => `See its log, ${p.log}.`,
  }),
  daemon_start_timeout: unavailable({
    http: 504,
    message: (p: {seconds: number; log: string}) => `The daemon was not ready after ${p.seconds} s and was stopped.`,
    hint: (p: {seconds: number; log: string}) => `See ${p.log}, or allow more time with --timeout.`,
  }),
  daemon_stop_timeout: unavailable({
    http: 504,
    message: (p: {pid: number; seconds: number}) => `The daemon (pid ${p.pid}) did not stop within ${p.seconds} s.`,
    hint: 'Allow more time with --timeout; the daemon waits for running tasks.',
  }),
  daemon_connection_lost: unavailable({
    http: 502,
    message: (p: {address: string}) => `The daemon at ${p.address} closed the connection.`,
    hint: 'Check whether it still runs, with svc daemon status.',
  }),
  daemon_answer_invalid: failed({
    http: 502,
    message: (p: {address: string}) => `The process at ${p.address} is not a svc daemon.`,
    hint: 'Check the address in SVC_ORCHESTRATOR_DAEMON_SOCKET.',
  }),
  call_invalid: answered(Exit.usage, 400),
  call_not_found: answered(Exit.notFound, 404),
  call_refused: answered(Exit.conflict, 409),
  call_unavailable: answered(Exit.unavailable, 503),
  call_failed: answered(Exit.failed, 500),
}))
