import {command} from '../command.js'
import {conflict, failed, notFound, rows, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

export const configErrors = rows(() => ({
  config_exists: conflict({
    message: (p: {path: string}) => `${p.path} already exists.`,
    hint: 'Edit it, or delete it first.',
  }),
  config_unparsable: usage({
    http: 500,
    message: (p: {file: string; line: number; column: number; reason: string}) =>
      `${p.file}:${p.line}:${p.column} is not valid TOML: ${p.reason}.`,
    hint: 'Correct the line, then run `svc config check`.',
  }),
  config_type: usage({
    http: 500,
    message: (p: {file: string; key: string; expected: string; found: string; others?: readonly string[]}) =>
      `${p.file}: ${[`${p.key} must be ${p.expected}, not ${p.found}`, ...(p.others ?? [])].join('; ')}.`,
    hint: 'Correct the value, then run `svc config check`.',
  }),
  config_variable: usage({
    http: 500,
    message: (p: {variable: string; expected: string; found: string}) =>
      `${p.variable} must be ${p.expected}, not ${p.found}.`,
    hint: (p: {variable: string; expected: string}) => `Set ${p.variable} to ${p.expected}, or unset it.`,
  }),
  config_user_only: usage({
    http: 500,
    message: (p: {file: string; key: string}) =>
      `${p.file}: ${p.key} cannot be set in this file, because workers can read and change it.`,
    hint: 'Move it to ~/.svc/config.toml, then run `svc config check`.',
  }),
  hidden_check_unusable: usage({
    http: 500,
    message: (p: {position: number; reason: string}) =>
      `Hidden check ${p.position} of orchestrator.harness.hidden_checks cannot be used: ${p.reason}.`,
    hint: 'Correct it in ~/.svc/config.toml; until then, no task is started.',
  }),
  orchestrator_config_invalid: usage({
    http: 500,
    message: (p: {faults: readonly string[]}) =>
      `The orchestrator settings contradict each other: ${p.faults.join('; ')}.`,
    hint: 'Change one setting of each pair; `svc config show` lists the source of each value.',
  }),
  setting_unknown: notFound({
    message: (p: {key: string; suggestion?: string | undefined}) =>
      `Unknown setting ${p.key}.${didYouMean(p.suggestion)}`,
    hint: 'Run `svc config show` to list the settings.',
  }),
  contract_unknown: notFound({
    message: (p: {id: string; suggestion?: string | undefined}) =>
      `Unknown contract ${p.id}.${didYouMean(p.suggestion)}`,
    hint: 'Run `svc contracts list` to list the contracts.',
  }),
  contract_broken: failed({
    message: (p: {file: string; reason: string}) => `The contract ${p.file} is invalid: ${p.reason}.`,
    hint: 'Reinstall svc, or revert your changes to the file.',
  }),
  contract_violation: failed({
    http: 422,
    message: (p: {subject: string; contract: string; violations: readonly string[]}) =>
      `${p.subject} does not match the contract ${p.contract}: ${p.violations.join('; ')}.`,
    hint: (p: {contract: string}) =>
      `Compare it with the schema of ${p.contract}; ${command`svc contracts list --json`} shows its file.`,
  }),
  document_unparsable: failed({
    http: 400,
    openai: 'invalid_json',
    message: (p: {subject: string; reason: string}) => `Cannot parse ${p.subject}: ${p.reason}.`,
    hint: 'Correct the syntax; files named .yaml or .yml are parsed as YAML, all others as JSON.',
  }),
}))
