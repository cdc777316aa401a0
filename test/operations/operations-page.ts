import {daemonMethods, daemonProtocol} from '../../src/operations/daemon-methods.js'
import type {Bindings, Operation} from '../../src/operations/operation.js'
import {operations} from '../../src/operations/table.js'

/** A Markdown page that lists every operation with its bindings. */
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
    '# Operations of a workspace',
    'Generated from the table of operations by `npm run contracts`. Do not edit.',
    'Every operation has one name, one input and one output, and up to three bindings: a command of `svc`, a method of the ' +
      'daemon and a tool of the MCP server. For their parameters, see `svc orch status --help`, `orch.methods` and ' +
      '`tools/list`; [orch-daemon-rpc-methods.schema.json](orch-daemon-rpc-methods.schema.json) is the contract of the ' +
      'methods.',
    'Only tools of the tier `core` are listed by default; every tool can be called.',
    table(['Operation', 'Description', 'Effect', 'Command', 'Method', 'Tool'], rows),
    '## Methods of the daemon itself',
    `These methods concern the daemon process and the connection, which uses the protocol \`${daemonProtocol}\`.`,
    table(
      ['Method', 'Description'],
      daemonMethods.map((own) => [methodOf(own), own.summary]),
    ),
  ]
  return `${parts.join('\n\n')}\n`
}

const commandOf = ({cli}: Bindings): string => (cli === undefined ? '' : `\`svc ${cli.command}\``)

const methodOf = (rpc: {method: string; aliases?: readonly string[]} | undefined): string =>
  rpc === undefined ? '' : [rpc.method, ...(rpc.aliases ?? [])].map((name) => `\`${name}\``).join(', ')

const toolOf = ({tool}: Operation['bindings']): string => (tool === undefined ? '' : `\`${tool.name}\` (${tool.tier})`)

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(inCell).join(' | ')} |`).join('\n')

const inCell = (text: string): string => text.replaceAll('|', '\\|')
