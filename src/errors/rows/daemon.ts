import {command} from '../command.js'
import {counted} from '../counted.js'
import {conflict, Exit, type ExitStatus, failed, notFound, rows, size, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** A daemon's error with a code that is not in this catalogue. */
const answered = (exit: ExitStatus, http: number) => ({
  exit,
  http,
  message: (p: {message: string}) => p.message,
  hint: 'Correct the request; if the daemon runs another version of svc, restart it with `svc daemon stop` and `svc daemon start`.',
})

/** Errors of the daemon and its clients. */
export const daemonErrors = rows(() => ({
  // Clients recognise the next three by their fixed beginning, "invalid request".
  request_unparsable: usage({
    message: (p: {reason: string}) => `invalid request: ${p.reason}`,
    hint: 'Send one JSON object per line, in UTF-8.',
  }),
  request_invalid: usage({
    message: (p: {reason: string}) => `invalid request: ${p.reason}`,
    hint: 'Send an object with id, method and params, or a JSON-RPC 2.0 request.',
  }),
  request_too_long: usage({
    http: 413,
    message: (p: {limit: number}) => `invalid request: the line is longer than ${size(p.limit)}`,
    hint: 'Send a shorter request; this line was skipped.',
  }),
  batch_answer_too_large: usage({
    http: 413,
    message: (p: {limit: number}) => `The responses of this batch exceed ${size(p.limit)} in total.`,
    hint: 'Send this request in a separate batch; it was not executed.',
  }),
  method_unknown: notFound({
    message: (p: {method: string; suggestion?: string | undefined}) =>
      `Unknown method ${p.method}.${didYouMean(p.suggestion)}`,
    hint: 'Call orch.methods to list the methods.',
  }),
  subscription_not_found: notFound({
    message: (p: {subscription: string}) => `This connection has no subscription ${p.subscription}.`,
    hint: 'Subscribe again on this connection with orch.events.subscribe.',
  }),
  subscriptions_exhausted: unavailable({
    http: 429,
    message: (p: {limit: number}) => `The limit of ${p.limit} subscriptions per connection is reached.`,
    hint: 'Cancel a subscription with orch.events.unsubscribe, or subscribe once to several types.',
  }),
  daemon_token_refused: conflict({
    http: 403,
    message: () => 'The token of the daemon is missing or invalid.',
    hint: 'Set SVC_DAEMON_TOKEN to the token of the daemon, or send the token with orch.hello as the first request.',
  }),
  daemon_full: unavailable({
    message: (p: {limit: number}) => `The limit of ${counted(p.limit, 'connection')} to the daemon is reached.`,
    hint: 'Close a connection, then try again.',
  }),
  daemon_address_invalid: usage({
    message: (p: {address: string}) => `${JSON.stringify(p.address)} is not a valid daemon address.`,
    hint: 'Use HOST:PORT, such as 127.0.0.1:9745 or [::1]:0, or stdio.',
  }),
  daemon_address_in_use: unavailable({
    http: 500,
    message: (p: {address: string}) => `Another process is already listening on ${p.address}.`,
    hint: 'Stop that process, or use another port with --listen, where 0 selects a free one.',
  }),
  daemon_address_unavailable: usage({
    http: 500,
    message: (p: {address: string; reason: string}) => `Cannot listen on ${p.address}: ${p.reason}.`,
    hint: 'Use an address of this machine, for example --listen 127.0.0.1:0.',
  }),
  daemon_exposed: usage({
    http: 403,
    message: (p: {address: string; missing: readonly string[]}) =>
      `Listening on ${p.address} exposes the daemon to other machines and requires ${p.missing.join(' and ')}.`,
    hint: 'Listen on 127.0.0.1, or pass --allow-remote and set SVC_DAEMON_TOKEN to 16 characters or more.',
  }),
  daemon_not_running: notFound({
    message: () => 'No daemon is running in this workspace.',
    hint: 'Start the daemon with `svc daemon start`.',
  }),
  daemon_silent: conflict({
    message: (p: {pid: number; isEnding: boolean}) =>
      p.isEnding
        ? `The daemon of this workspace (pid ${p.pid}) is stopping and accepts no more requests.`
        : `The daemon of this workspace (pid ${p.pid}) does not listen on an address.`,
    hint: (p: {pid: number; isEnding: boolean}) =>
      p.isEnding
        ? 'Wait until it has exited with `svc daemon stop`, then run `svc daemon start`.'
        : 'Stop it with `svc daemon stop`, then run `svc daemon start`, which listens.',
  }),
  daemon_unverified: conflict({
    message: (p: {pid: number}) => `Cannot verify that process ${p.pid} is the daemon of this workspace.`,
    hint: (p: {pid: number}) =>
      `End the daemon where it was started, or if this is its process, with ${command`kill ${p.pid}`}.`,
  }),
  daemon_died: failed({
    message: (p: {ended: string; log: string; tail: string}) =>
      `The daemon exited (${p.ended}) before it was ready${p.tail === '' ? '' : `: ${p.tail}`}`,
    hint: (p: {ended: string; log: string; tail: string}) => `Read the full log in ${p.log}.`,
  }),
  daemon_start_timeout: unavailable({
    http: 504,
    message: (p: {seconds: number; log: string}) => `The daemon was not ready within ${p.seconds} s and was stopped.`,
    hint: (p: {seconds: number; log: string}) => `Read the log in ${p.log}, or allow more time with --timeout.`,
  }),
  daemon_stop_timeout: unavailable({
    http: 504,
    message: (p: {pid: number; seconds: number}) => `The daemon (pid ${p.pid}) did not stop within ${p.seconds} s.`,
    hint: (p: {pid: number}) => `Allow more time with --timeout, or end the process with ${command`kill ${p.pid}`}.`,
  }),
  daemon_connection_lost: unavailable({
    http: 502,
    message: (p: {address: string}) => `The daemon at ${p.address} closed the connection.`,
    hint: 'Check with `svc daemon status` whether it is still running.',
  }),
  daemon_answer_invalid: failed({
    http: 502,
    message: (p: {address: string}) => `The process listening on ${p.address} is not an svc daemon.`,
    hint: 'Check the address in SVC_ORCHESTRATOR_DAEMON_SOCKET.',
  }),
  call_invalid: answered(Exit.usage, 400),
  call_not_found: answered(Exit.notFound, 404),
  call_refused: answered(Exit.conflict, 409),
  call_unavailable: answered(Exit.unavailable, 503),
  call_failed: answered(Exit.failed, 500),
}))
