import {command} from '../command.js'
import {counted} from '../counted.js'
import {conflict, failed, notFound, rows, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** Errors of data-language programs and their databases. */
export const langErrors = rows(() => ({
  program_not_found: notFound({
    http: 500,
    message: (p: {path: string}) => `Program ${p.path} does not exist.`,
    hint: 'Pass the path of the program, or save it as src/main.svc.',
  }),
  program_invalid: failed({
    message: (p: {path: string; errors: number}) => `${p.path} has ${counted(p.errors, 'error')}.`,
    hint: 'Correct the errors; `svc db check FILE` lists them.',
  }),
  endpoint_auth_not_enforced: usage({
    http: 500,
    message: (p: {decorator: string; place: string}) => `${p.place}: svc does not enforce ${p.decorator}.`,
    hint: (p: {decorator: string}) => `Remove ${p.decorator}, and protect the entire program with SVC_APP_TOKEN.`,
  }),
  app_unprotected: usage({
    http: 500,
    message: (p: {host: string; variable: string}) =>
      `Listening on ${p.host} exposes the server to other machines and requires a token in ${p.variable}.`,
    hint: (p: {variable: string}) =>
      `Set ${p.variable} to a secret, which clients send as a bearer token, or use --host 127.0.0.1.`,
  }),
  endpoint_unknown: notFound({
    message: (p: {name: string; suggestion?: string | undefined}) =>
      `The program has no endpoint ${p.name}.${didYouMean(p.suggestion)}`,
    hint: 'Run `svc db schema` to list the endpoints.',
  }),
  endpoint_writes: usage({
    message: (p: {name: string}) => `The endpoint ${p.name} changes the database, and query_database only reads.`,
    hint: 'Use the operation change_database.',
  }),
  endpoint_failed: failed({
    message: (p: {name: string; reason: string; detail: string}) => `${p.name} failed: ${p.detail} (${p.reason}).`,
    hint: 'Correct the arguments or the program; the changes of a mutation were rolled back.',
  }),
  endpoint_refused: conflict({
    http: 422,
    message: (p: {name: string; detail: string}) => `${p.name} returned an error: ${p.detail}.`,
    hint: 'Correct the arguments; the changes of a mutation were rolled back.',
  }),
  argument_invalid: usage({
    message: (p: {name: string; fault: string}) => `Invalid argument ${p.name}: ${p.fault}.`,
    hint: 'Write arguments as name=value, where value is JSON or plain text.',
  }),
  topic_unknown: notFound({
    message: (p: {topic: string; suggestion?: string | undefined}) =>
      `The program has no live topic ${p.topic}.${didYouMean(p.suggestion)}`,
    hint: 'Run `svc db explain` to list the live topics.',
  }),
  table_unknown: notFound({
    message: (p: {name: string; suggestion?: string | undefined}) =>
      `Table ${p.name} does not exist.${didYouMean(p.suggestion)}`,
    hint: 'Run `svc db schema` to list the tables, or `svc db migrate` to create them in the database.',
  }),
  record_invalid: usage({
    message: (p: {path: string; place: string; fault: string}) => `${p.path}, ${p.place}: ${p.fault}.`,
    hint: 'Correct the record, then run the command again; nothing was written.',
  }),
  database_missing: notFound({
    http: 500,
    message: (p: {path: string}) => `Database ${p.path} does not exist.`,
    hint: 'Check the path, or create the database of a program with `svc db migrate`.',
  }),
  migration_blocked: notFound({
    http: 500,
    message: (p: {path: string; blocking: number}) =>
      `${p.path} does not match the program: ${counted(p.blocking, 'step needs', 'steps need')} a decision.`,
    hint: 'Run `svc db migrate --dry-run` to see each step and the flag that decides it.',
  }),
  schema_changed: unavailable({
    message: (p: {path: string}) => `${p.path} was migrated, and no longer matches the program.`,
    hint: 'Start the server again with the program of the migration.',
  }),
  migration_failed: failed({
    message: (p: {path: string; reason: string}) => `Cannot migrate ${p.path}: ${p.reason}.`,
    hint: 'Correct the data or the program; the database was not changed.',
  }),
  migration_choice: usage({
    message: (p: {flag: string; value: string; fault: string}) => `${p.flag} ${p.value}: ${p.fault}.`,
    hint: 'Run `svc db migrate --dry-run` to see the flags that apply.',
  }),
  expression_invalid: failed({
    message: (p: {place: string; reason: string; code: string}) => `Invalid expression at ${p.place}: ${p.reason}`,
    hint: (p: {code: string}) => `Correct the expression; ${command`svc explain ${p.code}`} describes the error.`,
  }),
  expression_failed: failed({
    message: (p: {reason: string; detail: string}) => `The expression failed: ${p.detail} (${p.reason}).`,
    hint: 'Correct the expression, or the function that it calls.',
  }),
  sql_invalid: usage({
    message: (p: {reason: string; place?: string | undefined; suggestion?: string | undefined}) =>
      `Cannot run the statement: ${p.reason}${p.place === undefined ? '' : ` at ${p.place}`}.${didYouMean(p.suggestion)}`,
    hint: 'Pass a single read-only statement.',
  }),
  shell_command_unknown: usage({
    message: (p: {command: string; suggestion?: string | undefined}) =>
      `The shell has no command ${p.command}.${didYouMean(p.suggestion)}`,
    hint: 'Type .help for the commands of the shell.',
  }),
  unconfirmed: usage({
    message: (p: {what: string}) => `${p.what} was not confirmed.`,
    hint: 'Pass --yes to confirm it in advance.',
  }),
}))
