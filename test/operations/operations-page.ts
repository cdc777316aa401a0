import {daemonMethods, daemonProtocol} from '../../src/operations/daemon-methods.js'
import type {Bindings, Operation} from '../../src/operations/operation.js'
import {operations} from '../../src/operations/table.js'

/** A page that lists every operation with what each face calls it, in Markdown. */
export function operationsPage(): string {
  const rows = operations.map((operation) => [
    `\`${operation.name}\``,
    operation.summary,
    operation.effect,
    commandOf(operation.bindings),
    methodOf(operation.bindings.rpc),
    toolOf(operation.bindings),
  ])
  const parts = [
    '# What can be done in a workspace',
    'Generated from the table of operations by `npm run contracts`. Do not edit.',
    'Every operation has one name, one input and one output, and up to three bindings: a command of `svc`, a method of the ' +
      'daemon and a tool of the tool server. `svc orch status --help`, `orch.methods` and `tools/list` tell what each ' +
      'of them takes; [orch-daemon-rpc-methods.schema.json](orch-daemon-rpc-methods.schema.json) is the contract of the ' +
      'methods.',
    'Tools of the tier `core` are listed unless told otherwise; every tool can be called.',
    table(['Operation', 'What it does', 'Effect', 'Command', 'Method', 'Tool'], rows),
    '## Methods of the daemon itself',
    `They are about its process and the connection, which speaks \`${daemonProtocol}\`.`,
    table(
      ['Method', 'What it does'],
      daemonMethods.map((own) => [methodOf(own), own.summary]),
    ),
  ]
  return `${parts.join('\n\n')}\n`
}

const commandOf = ({cli}: Bindings): string => (cli === undefined ? '' : `\`svc ${cli.command}\``)

const methodOf = (face: {method: string; aliases?: readonly string[]} | undefined): string =>
  face === undefined ? '' : [face.method, ...(face.aliases ?? [])].map((name) => `\`${name}\``).join(', ')

const toolOf = ({tool}: Operation['bindings']): string => (tool === undefined ? '' : `\`${tool.name}\` (${tool.tier})`)

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(inCell).join(' | ')} |`).join('\n')

const inCell = (text: string): string => text.replaceAll('|', '\\|')
