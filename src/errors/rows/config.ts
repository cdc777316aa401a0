import {failed, notFound, rows, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

export const configErrors = rows(() => ({
  config_unparsable: usage({
    http: 500,
    message: (p: {file: string; line: number; column: number; reason: string}) =>
      `${p.file}:${p.line}:${p.column} is not valid TOML: ${p.reason}.`,
    hint: 'Mend the line; svc config check reads the file again.',
  }),
  config_type: usage({
    http: 500,
    message: (p: {file: string; key: string; expected: string; found: string}) =>
      `${p.file}: ${p.key} takes ${p.expected}, not ${p.found}.`,
    hint: 'Change the value; svc config show lists each setting with the values it takes.',
  }),
  config_variable: usage({
    http: 500,
    message: (p: {variable: string; expected: string; found: string}) =>
      `${p.variable} takes ${p.expected}, not ${p.found}.`,
    hint: (p: {variable: string; expected: string}) => `Set ${p.variable} to ${p.expected}, or unset it.`,
  }),
  orchestrator_config_invalid: usage({
    http: 500,
    message: (p: {faults: readonly string[]}) =>
      `The settings of the orchestrator do not fit together: ${p.faults.join('; ')}.`,
    hint: 'Change one setting of each pair; svc config show tells where their values come from.',
  }),
  contract_unknown: notFound({
    message: (p: {id: string; suggestion?: string | undefined}) =>
      `There is no contract ${p.id}.${didYouMean(p.suggestion)}`,
    hint: 'Run svc contracts list to see them all.',
  }),
  contract_broken: failed({
    message: (p: {file: string; reason: string}) => `The contract ${p.file} cannot be used: ${p.reason}.`,
    hint: 'The file is part of svc: install it again, or mend the file if you changed it.',
  }),
  contract_violation: failed({
    http: 422,
    message: (p: {subject: string; contract: string; violations: readonly string[]}) =>
      `${p.subject} does not fit the contract ${p.contract}: ${p.violations.join('; ')}.`,
    hint: (p: {contract: string}) => `Run svc contracts list to find the schema of ${p.contract}.`,
  }),
  document_unparsable: failed({
    http: 400,
    openai: 'invalid_json',
    message: (p: {subject: string; reason: string}) => `${p.subject} cannot be parsed: ${p.reason}.`,
    hint: 'The document must be JSON, or YAML when its name ends in .yaml or .yml.',
  }),
}))
