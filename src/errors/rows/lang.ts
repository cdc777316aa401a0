import {conflict, failed, notFound, rows, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** Errors of data-language programs and their databases. */
export const langErrors = rows(() => ({
  program_not_found: notFound({
    http: 500,
    message: (p: {path: string}) => `There is no program at ${p.path}.`,
    hint: 'Name the file, or put the program into src/main.svc.',
  }),
  program_invalid: failed({
    message: (p: {path: string; errors: number}) => `${p.path} has ${p.errors} error${p.errors === 1 ? '' : 's'}.`,
    hint: 'The diagnostics above say where and what; svc db check shows them again.',
  }),
  endpoint_auth_not_enforced: usage({
    http: 500,
    message: (p: {place: string}) => `${p.place}: @auth is not enforced: everybody could call the endpoint.`,
    hint: 'Remove @auth, and let SVC_APP_TOKEN keep others out of the whole program.',
  }),
  app_unprotected: usage({
    http: 500,
    message: (p: {host: string; variable: string}) =>
      `Other machines could use the program on ${p.host} without a token: ${p.variable} is not set.`,
    hint: 'Set it to a text that clients send as a Bearer token, or listen on 127.0.0.1.',
  }),
  endpoint_unknown: notFound({
    message: (p: {name: string; suggestion?: string | undefined}) =>
      `The program has no endpoint ${p.name}.${didYouMean(p.suggestion)}`,
    hint: 'Run svc db schema to see the endpoints.',
  }),
  endpoint_failed: failed({
    message: (p: {name: string; reason: string; detail: string}) => `${p.name} failed: ${p.detail} (${p.reason}).`,
    hint: 'Nothing that a mutation wrote was kept.',
  }),
  endpoint_refused: conflict({
    http: 422,
    message: (p: {name: string; detail: string}) => `${p.name} answered with an error: ${p.detail}.`,
    hint: 'The program returned it; nothing that a mutation wrote was kept.',
  }),
  argument_invalid: usage({
    message: (p: {name: string; fault: string}) => `Argument ${p.name}: ${p.fault}.`,
    hint: 'Arguments are written name=value, where the value is JSON or plain text.',
  }),
  topic_unknown: notFound({
    message: (p: {topic: string; suggestion?: string | undefined}) =>
      `No query of the program is live on ${p.topic}.${didYouMean(p.suggestion)}`,
    hint: 'A topic is named by .live(topic) in a query of the program.',
  }),
  table_unknown: notFound({
    message: (p: {name: string; suggestion?: string | undefined}) =>
      `There is no table ${p.name}.${didYouMean(p.suggestion)}`,
    hint: 'Run svc db schema to see the tables.',
  }),
  record_invalid: usage({
    message: (p: {path: string; place: string; fault: string}) => `${p.path}, ${p.place}: ${p.fault}.`,
    hint: 'Correct the record and try again; nothing was written.',
  }),
  database_missing: notFound({
    http: 500,
    message: (p: {path: string}) => `There is no database at ${p.path}.`,
    hint: 'Run svc db migrate, which makes it from the program.',
  }),
  migration_blocked: notFound({
    http: 500,
    message: (p: {path: string; blocking: number}) =>
      `${p.path} does not fit the program: ${p.blocking} step${p.blocking === 1 ? ' needs' : 's need'} a decision.`,
    hint: 'Run svc db migrate --dry-run, which shows each step and the flag that decides it.',
  }),
  migration_failed: failed({
    message: (p: {path: string; reason: string}) => `${p.path} could not be migrated: ${p.reason}.`,
    hint: 'The database is as it was before.',
  }),
  migration_choice: usage({
    message: (p: {flag: string; value: string; fault: string}) => `${p.flag} ${p.value}: ${p.fault}.`,
    hint: 'Run svc db migrate --dry-run, which shows the flags that fit.',
  }),
  sql_invalid: usage({
    message: (p: {reason: string}) => `The statement cannot be run: ${p.reason}.`,
    hint: 'Give one statement that reads.',
  }),
  unconfirmed: usage({
    message: (p: {what: string}) => `${p.what} deletes data and was not confirmed.`,
    hint: 'Add --yes.',
  }),
}))
