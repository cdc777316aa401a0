import {conflict, failed, interrupted, notFound, rows, size, terminated, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** Errors of the command line and of the file system. */
export const commandErrors = rows(() => ({
  internal: failed({
    message: (p: {reason: string}) => `Internal error: ${p.reason}`,
    hint: 'Run the command again with --debug, and report the output as a bug.',
  }),
  interrupted: interrupted({
    message: () => 'Interrupted.',
    hint: 'Run the command again to continue.',
  }),
  terminated: terminated({
    message: () => 'Terminated.',
    hint: 'Run the command again to continue.',
  }),
  output_closed: failed({
    message: () => 'The reader of standard output closed it before the work was finished.',
    hint: 'Write the output to a file, and read the file.',
  }),
  usage: usage({
    message: (p: {reason: string; usage?: string | undefined; example?: string | undefined}) => p.reason,
    hint: ({usage, example}: {usage?: string | undefined; example?: string | undefined} = {}) => {
      if (usage === undefined) return 'Run the command with --help to see its usage.'
      return `Usage: ${usage}${example === undefined ? '' : `, for example: ${example}`}.`
    },
  }),
  column_unknown: usage({
    message: (p: {column: string; columns: string; suggestion?: string | undefined}) =>
      `The table has no column ${p.column}.${didYouMean(p.suggestion)}`,
    hint: (p) => `The columns are ${p.columns}.`,
  }),
  command_unknown: usage({
    message: (p: {command: string; suggestion?: string | undefined}) =>
      `Unknown command ${p.command}.${didYouMean(p.suggestion)}`,
    hint: 'Run `svc --help` to list the commands.',
  }),
  flag_unknown: usage({
    message: (p: {flag: string; suggestion?: string | undefined}) =>
      `Unknown flag ${p.flag}.${didYouMean(p.suggestion)}`,
    hint: 'Run the command with --help to list its flags.',
  }),
  flag_value: usage({
    message: (p: {flag: string; value: string; expected: string}) =>
      `${p.flag} must be ${p.expected}, not "${p.value}".`,
    hint: 'Run the command with --help to see the accepted values.',
  }),
  code_unknown: notFound({
    message: (p: {code: string; suggestion?: string | undefined}) =>
      `Unknown error or diagnostic code ${p.code}.${didYouMean(p.suggestion)}`,
    hint: 'Run `svc explain` to list the groups of codes.',
  }),
  question_unknown: notFound({
    message: () => 'I do not know: nothing in the documentation of svc fits this question.',
    hint: 'Use other words, or run `svc --help` to list the commands.',
  }),
  stdin_not_utf8: usage({
    message: (p: {offset: number}) => `Standard input is not UTF-8 text: byte ${p.offset} is invalid.`,
    hint: 'Convert the input to UTF-8, for example with `iconv -f ISO-8859-1 -t UTF-8`.',
  }),
  stdin_too_long: usage({
    http: 413,
    message: (p: {limit: number; path?: string | undefined}) =>
      `${p.path ?? 'Standard input'} is longer than ${size(p.limit)}.`,
    hint: 'Pass a shorter input.',
  }),
  stdin_used_twice: usage({
    message: () => 'Standard input can be only one of the prompt, the schema, the grammar and the tools.',
    hint: 'Pass the prompt as an argument, and the others as files.',
  }),
  tool_choice_unknown: usage({
    message: (p: {name: string; names: string}) => `There is no tool ${p.name} in the list.`,
    hint: (p: {names: string}) => `Pass auto, required, or one of: ${p.names}.`,
  }),
  file_not_found: notFound({
    message: (p: {path: string}) => `${p.path} does not exist.`,
    hint: 'Check the path; it is relative to the current directory, or to the one given with -C.',
  }),
  file_unreadable: failed({
    message: (p: {path: string; reason: string}) => `Cannot read ${p.path}: ${p.reason}.`,
    hint: 'Check that the path is a regular file, and that you have permission to read it.',
  }),
  file_unwritable: failed({
    message: (p: {path: string; reason: string}) => `Cannot write ${p.path}: ${p.reason}.`,
    hint: 'Check the path, and that you have permission to write there.',
  }),
  output_exists: conflict({
    message: (p: {path: string; flag: string | undefined}) =>
      p.flag === undefined ? `${p.path} already exists and cannot be replaced.` : `${p.path} already exists.`,
    hint: (p: {flag: string | undefined}) =>
      p.flag === undefined
        ? 'Choose another output path.'
        : `Pass ${p.flag} to replace it, or choose another output path.`,
  }),
  output_in_use: conflict({
    message: (p: {path: string; user: string}) => `${p.path} is being written by ${p.user}.`,
    hint: 'Stop the other process, or choose another output path; nothing was changed.',
  }),
  output_is_input: conflict({
    message: (p: {path: string; input: string}) => `The output ${p.path} would overwrite the input ${p.input}.`,
    hint: 'Choose another output path.',
  }),
  directory_not_found: notFound({
    message: (p: {path: string}) => `Directory ${p.path} does not exist.`,
    hint: 'Check the path given with -C.',
  }),
  disk_full: failed({
    http: 507,
    message: (p: {path: string}) => `No disk space left to write ${p.path}.`,
    hint: 'Free disk space, then run the command again.',
  }),
}))
