import {conflict, failed, interrupted, notFound, rows, terminated, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** Errors of the command line itself and of the machine it runs on. */
export const commandErrors = rows(() => ({
  internal: failed({
    message: (p: {reason: string}) => `Something went wrong inside svc: ${p.reason}`,
    hint: 'Run the command again with --debug and report what it prints.',
  }),
  interrupted: interrupted({
    message: () => 'Interrupted.',
    hint: 'Run the command again when you are ready.',
  }),
  terminated: terminated({
    message: () => 'Terminated.',
    hint: 'The process was asked to stop; run the command again.',
  }),
  usage: usage({
    message: (p: {reason: string}) => p.reason,
    hint: 'Add --help to the command to see how it is used.',
  }),
  command_unknown: usage({
    message: (p: {command: string; suggestion?: string | undefined}) =>
      `There is no command ${p.command}.${didYouMean(p.suggestion)}`,
    hint: 'Run svc --help to list the commands.',
  }),
  flag_unknown: usage({
    message: (p: {flag: string; suggestion?: string | undefined}) =>
      `There is no flag ${p.flag}.${didYouMean(p.suggestion)}`,
    hint: 'Add --help to the command to list its flags.',
  }),
  flag_value: usage({
    message: (p: {flag: string; value: string; expected: string}) => `${p.flag} takes ${p.expected}, not "${p.value}".`,
    hint: 'Add --help to the command to see what each flag takes.',
  }),
  code_unknown: notFound({
    message: (p: {code: string; suggestion?: string | undefined}) =>
      `There is no error or diagnostic code ${p.code}.${didYouMean(p.suggestion)}`,
    hint: 'Run svc explain to list the codes.',
  }),
  stdin_not_utf8: usage({
    message: (p: {offset: number}) => `Standard input is not UTF-8 text: byte ${p.offset} does not fit.`,
    hint: 'Convert the input first, for example with iconv -t utf-8.',
  }),
  stdin_too_long: usage({
    http: 413,
    message: (p: {limit: number}) => `Standard input is longer than ${p.limit} bytes.`,
    hint: 'Send a shorter input.',
  }),
  file_not_found: notFound({
    message: (p: {path: string}) => `There is no file ${p.path}.`,
    hint: 'Check the path; it is taken from the current directory, or from the one given with -C.',
  }),
  file_unreadable: failed({
    message: (p: {path: string; reason: string}) => `Cannot read ${p.path}: ${p.reason}.`,
    hint: 'Check that the path is a file and that you may read it.',
  }),
  file_unwritable: failed({
    message: (p: {path: string; reason: string}) => `Cannot write ${p.path}: ${p.reason}.`,
    hint: 'Check the path, and that you may write there.',
  }),
  output_exists: conflict({
    message: (p: {path: string; flag: string | undefined}) =>
      p.flag === undefined ? `${p.path} is there already, and it is something else.` : `${p.path} is there already.`,
    hint: (p: {flag: string | undefined}) =>
      p.flag === undefined ? 'Choose another output.' : `Choose another output, or add ${p.flag}.`,
  }),
  output_is_input: conflict({
    message: (p: {path: string; input: string}) => `${p.path} would replace ${p.input}, which is read here.`,
    hint: 'Choose another output.',
  }),
  directory_not_found: notFound({
    message: (p: {path: string}) => `There is no directory ${p.path}.`,
    hint: 'Check the path.',
  }),
  disk_full: failed({
    http: 507,
    message: (p: {path: string}) => `No space is left to write ${p.path}.`,
    hint: 'Free some disk space and run the command again.',
  }),
}))
