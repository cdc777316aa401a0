import {conflict, failed, interrupted, notFound, rows, terminated, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** Errors of the command line itself and of the machine it runs on. */
export const commandErrors = rows(() => ({
  internal: failed({
    message: (p: {reason: string}) => `Internal error: ${p.reason}`,
    hint: 'Run the command again with --debug, and report its output.',
  }),
  interrupted: interrupted({
    message: () => 'Interrupted.',
    hint: 'Run the command again.',
  }),
  terminated: terminated({
    message: () => 'Terminated.',
    hint: 'The process received SIGTERM. Run the command again.',
  }),
  usage: usage({
    message: (p: {reason: string}) => p.reason,
    hint: 'Run the command with --help to see its usage.',
  }),
  command_unknown: usage({
    message: (p: {command: string; suggestion?: string | undefined}) =>
      `Unknown command: ${p.command}.${didYouMean(p.suggestion)}`,
    hint: 'Run svc --help to list the commands.',
  }),
  flag_unknown: usage({
    message: (p: {flag: string; suggestion?: string | undefined}) =>
      `Unknown flag: ${p.flag}.${didYouMean(p.suggestion)}`,
    hint: 'Run the command with --help to list its flags.',
  }),
  flag_value: usage({
    message: (p: {flag: string; value: string; expected: string}) =>
      `${p.flag} must be ${p.expected}, not "${p.value}".`,
    hint: 'Run the command with --help to see the values of each flag.',
  }),
  code_unknown: notFound({
    message: (p: {code: string; suggestion?: string | undefined}) =>
      `Unknown error or diagnostic code: ${p.code}.${didYouMean(p.suggestion)}`,
    hint: 'Run svc explain to list all codes.',
  }),
  stdin_not_utf8: usage({
    message: (p: {offset: number}) => `Standard input is not valid UTF-8: invalid byte at offset ${p.offset}.`,
    hint: 'Convert the input to UTF-8, for example with iconv -t utf-8.',
  }),
  stdin_too_long: usage({
    http: 413,
    message: (p: {limit: number}) => `Standard input is longer than ${p.limit} bytes.`,
    hint: 'Send a shorter input.',
  }),
  file_not_found: notFound({
    message: (p: {path: string}) => `File not found: ${p.path}.`,
    hint: 'Check the path. Relative paths start from the current directory, or from the directory of -C.',
  }),
  file_unreadable: failed({
    message: (p: {path: string; reason: string}) => `Cannot read ${p.path}: ${p.reason}.`,
    hint: 'Check that the path is a file and that you have permission to read it.',
  }),
  file_unwritable: failed({
    message: (p: {path: string; reason: string}) => `Cannot write ${p.path}: ${p.reason}.`,
    hint: 'Check the path and its permissions.',
  }),
  output_exists: conflict({
    message: (p: {path: string; flag: string | undefined}) =>
      p.flag === undefined ? `${p.path} already exists and is not a regular file.` : `${p.path} already exists.`,
    hint: (p: {flag: string | undefined}) =>
      p.flag === undefined
        ? 'Choose another output path.'
        : `Choose another output path, or pass ${p.flag} to replace it.`,
  }),
  output_is_input: conflict({
    message: (p: {path: string; input: string}) => `The output ${p.path} would replace the input ${p.input}.`,
    hint: 'Choose another output path.',
  }),
  directory_not_found: notFound({
    message: (p: {path: string}) => `Directory not found: ${p.path}.`,
    hint: 'Check the path.',
  }),
  disk_full: failed({
    http: 507,
    message: (p: {path: string}) => `No space left on the device to write ${p.path}.`,
    hint: 'Free disk space, and run the command again.',
  }),
}))
