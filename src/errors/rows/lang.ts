import {conflict, failed, notFound, rows, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** Errors of data-language programs and their databases. */
export const langErrors = rows(() => ({
  program_not_found: notFound({
    http: 500,
    message: (p: {path: string}) => `Program not found: ${p.path}.`,
    hint: "Pass the program's file, or create src/main.svc.",
  }),
  program_invalid: failed({
    message: (p: {path: string; errors: number}) => `${p.path} has ${p.errors} error${p.errors === 1 ? '' : 's'}.`,
    hint: 'Fix the reported diagnostics, then run svc db check.',
  }),
  endpoint_auth_not_enforced: usage({
    http: 500,
    message: (p: {place: string}) => `${p.place}: @auth is not enforced, so anyone could call the endpoint.`,
    hint: 'Remove @auth, and set SVC_APP_TOKEN to require a token for all endpoints.',
  }),
  app_unprotected: usage({
    http: 500,
    message: (p: {host: string; variable: string}) =>
      `A program on ${p.host} without a token would be open to other machines: ${p.variable} is not set.`,
    hint: 'Set it to a secret that clients send as a bearer token, or listen on 127.0.0.1.',
  }),
  endpoint_unknown: notFound({
    message: (p: {name: string; suggestion?: string | undefined}) =>
      `The program has no endpoint ${p.name}.${didYouMean(p.suggestion)}`,
    hint: 'Run svc db schema to list the endpoints.',
  }),
  endpoint_failed: failed({
    message: (p: {name: string; reason: string; detail: string}) => `${p.name} failed: ${p.detail} (${p.reason}).`,
    hint: 'Check the arguments and the program. Changes of a mutation were rolled back.',
  }),
  endpoint_refused: conflict({
    http: 422,
    message: (p: {name: string; detail: string}) => `${p.name} returned an error: ${p.detail}.`,
    hint: 'Check the arguments; the program returned this error. Changes of a mutation were rolled back.',
  }),
  argument_invalid: usage({
    message: (p: {name: string; fault: string}) => `Argument ${p.name}: ${p.fault}.`,
    hint: 'Write arguments as name=value; the value is JSON or plain text.',
  }),
  topic_unknown: notFound({
    message: (p: {topic: string; suggestion?: string | undefined}) =>
      `No query of the program uses the topic ${p.topic}.${didYouMean(p.suggestion)}`,
    hint: 'Use a topic that a query names with .live(topic).',
  }),
  table_unknown: notFound({
    message: (p: {name: string; suggestion?: string | undefined}) =>
      `Unknown table: ${p.name}.${didYouMean(p.suggestion)}`,
    hint: 'Run svc db schema to list the tables.',
  }),
  record_invalid: usage({
    message: (p: {path: string; place: string; fault: string}) => `${p.path}, ${p.place}: ${p.fault}.`,
    hint: 'Correct the record and run the command again. Nothing was written.',
  }),
  database_missing: notFound({
    http: 500,
    message: (p: {path: string}) => `Database not found: ${p.path}.`,
    hint: 'Run svc db migrate to create it.',
  }),
  migration_blocked: notFound({
    http: 500,
    message: (p: {path: string; blocking: number}) =>
      `${p.path} does not match the program: ${p.blocking} migration step${p.blocking === 1 ? ' needs' : 's need'} a decision.`,
    hint: 'Run svc db migrate --dry-run to list each step and the flag that allows it.',
  }),
  migration_failed: failed({
    message: (p: {path: string; reason: string}) => `${p.path} could not be migrated: ${p.reason}.`,
    hint: 'Fix the cause and migrate again. The database was not changed.',
  }),
  migration_choice: usage({
    message: (p: {flag: string; value: string; fault: string}) => `${p.flag} ${p.value}: ${p.fault}.`,
    hint: 'Run svc db migrate --dry-run to list the applicable flags.',
  }),
  sql_invalid: usage({
    message: (p: {reason: string}) => `Invalid SQL statement: ${p.reason}.`,
    hint: 'Pass a single statement that only reads.',
  }),
  unconfirmed: usage({
    message: (p: {what: string}) => `${p.what} deletes data and needs confirmation.`,
    hint: 'Pass --yes to confirm.',
  }),
}))
