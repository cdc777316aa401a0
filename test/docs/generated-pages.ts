import type {Command} from '@oclif/core'
import {loadCommands} from '../../src/cli/package.js'
import {type Setting, settingTables} from '../../src/config/index.js'
import {explainDiagnostics} from '../../src/lang/index.js'
import {realtimeErrors, realtimeEvents, realtimeFields} from '../../src/speech-server/index.js'
import {architecturePicture} from './architecture-picture.js'

/** The pages of `docs/` that are generated, by their path in the project. */
export const generatedPages = async (): Promise<Record<string, string>> => ({
  'docs/architecture.svg': architecturePicture(),
  'docs/configuration.md': configurationPage(),
  'docs/db-diagnostics.md': await diagnosticsPage(),
  'docs/llms.txt': await llmsPage(),
  'docs/realtime.md': realtimePage(),
})

/** Sections of the configuration page: the name of their tables, and a title. */
const sections: readonly (readonly [table: string, title: string])[] = [
  ['workspace', 'Workspace'],
  ['log', 'Logging'],
  ['network', 'Network'],
  ['engine', 'Text generation'],
  ['serve', 'Inference server'],
  ['inference', 'Inference client'],
  ['speech', 'Speech'],
  ['hub', 'Model downloads'],
  ['ide', 'Editor context'],
  ['orchestrator', 'Tasks and scheduling'],
  ['orchestrator.exec', 'Command templates'],
  ['orchestrator.socrates_policy', 'Confidence thresholds'],
  ['orchestrator.test_decision_policy', 'Test decisions'],
  ['orchestrator.tier_gate', 'Approval tiers'],
  ['orchestrator.attention_tlx_weights', 'Weights of attention'],
  ['orchestrator.interruption_calibration', 'Calibration of interruptions'],
  ['orchestrator.orchestration_migration', 'Migration of orchestrator data'],
  ['orchestrator.default_agent_capabilities', 'Default capabilities of agents'],
  ['orchestrator.session', 'Sessions of agents'],
  ['orchestrator.memory', 'Memory of tasks'],
  ['orchestrator.compaction', 'Compaction of sessions'],
  ['mesh', 'Mesh'],
  ['a2a', 'Messages between agents'],
  ['daemon', 'Daemon'],
  ['mcp', 'MCP server'],
  ['assistant', 'Assistant'],
  ['telemetry', 'Metrics and cost events'],
  ['app', 'Data-language server'],
]

function configurationPage(): string {
  const rows = settingTables.flatMap(({name, rows}) => Object.values(rows).map((row) => ({table: name, row})))
  const untitled = rows.find(({table}) => !sections.some(([name]) => name === table))
  if (untitled !== undefined) throw new Error(`The table ${untitled.table} has no title in ${import.meta.filename}.`)
  const texts = sections.map(([name, title]) => {
    const items = rows.filter(({table}) => table === name).map(({row}) => settingItem(row))
    return `## ${title}\n\n${items.join('\n')}`
  })
  return `# Configuration

A setting gets its value from the first of these sources that has one:

1. the command's flag;
2. an environment variable;
3. \`~/.svc/mesh/mesh.env\` or \`.svc/mesh/mesh.env\`, for settings of the mesh;
4. \`Svc.toml\` in the nearest directory upwards that has one;
5. \`.svc/config.toml\` in the home directory, for all workspaces of a user;
6. the default.

\`svc config show\` prints every setting with its value and source, \`svc config show --changed\` only those that differ from their
defaults, and \`svc config check\` validates both files. [\`examples/Svc.toml\`](../examples/Svc.toml) is a file to start from.
\`~/.svc/config.toml\` has the same keys as \`Svc.toml\`; \`svc\` never creates it.

A key in one of these files that no setting reads causes a warning. A file that cannot be parsed stops every command, with line
and column. Settings that \`svc config show\` marks as planned have no effect in this version; they are not listed here.

${texts.join('\n')}`
}

function settingItem({env = [], toml = [], flag, doc, default: fallback, type}: Setting): string {
  const names = [...toml, ...env, ...(flag === undefined ? [] : [`--${flag}`])].map((name) => `\`${name}\``).join(', ')
  const value = typeof fallback === 'string' ? fallback : JSON.stringify(fallback)
  return `- ${names}\n\n  ${doc} Accepts ${type.expected}.${fallback === undefined || value === '""' ? '' : ` Default: \`${value}\`.`}\n`
}

async function diagnosticsPage(): Promise<string> {
  const explanations = await explainDiagnostics()
  const items = explanations.map(
    ({code, severity, cause, fix, example, message, fixed}) =>
      `## ${code}\n\n${severity === 'error' ? 'Error' : 'Warning'}. ${cause} ${fix}\n\n${fenced('svc', example)}\n${fenced('text', message)}\nFixed:\n\n${fenced('svc', fixed)}`,
  )
  return `# Diagnostics of the data language

Every code that \`svc db check\` and the language server report, with an example and its fix. \`svc explain CODE\` prints the same.

${items.join('\n')}`
}

function realtimePage(): string {
  const events = realtimeEvents.map(
    ({type, required, effect}) => `| \`${type}\` | ${required === undefined ? '' : `\`${required}\``} | ${effect} |`,
  )
  const fields = realtimeFields.map(({path, accepts, effect}) => `| \`${path}\` | ${accepts} | ${effect} |`)
  const errors = Object.entries(realtimeErrors).map(([code, cause]) => `| \`${code}\` | ${cause} |`)
  return `# Realtime API of the audio server

\`/v1/realtime\` of [\`svc speech serve\`](audio-server.md) and \`svc serve --speech-model\` is the Realtime API of OpenAI for
transcription sessions. The query parameters are \`intent=transcription\`, \`model\` and \`session\`.

## Events of the client

Each event may have an \`event_id\`.

| Type | Required | Effect |
| --- | --- | --- |
${events.join('\n')}

## Fields

Any other field is refused by its name. A null is the same as an absent field, except in \`turn_detection\`.

| Field | Accepts | Effect |
| --- | --- | --- |
${fields.join('\n')}

## Events of the server

\`session.created\`, \`session.updated\`, \`input_audio_buffer.committed\` and \`.cleared\`, \`conversation.item.added\`,
\`conversation.item.input_audio_transcription.delta\`, \`.completed\` and \`.failed\`, and \`error\`. With turn detection, also
\`input_audio_buffer.speech_started\` and \`.speech_stopped\`.

## Errors

The connection stays open after an error of the type \`invalid_request_error\`. Its \`param\` is the path of the field.

| Code | Cause |
| --- | --- |
${errors.join('\n')}
`
}

const fenced = (language: string, text: string) => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\n`

async function llmsPage(): Promise<string> {
  const {commands, pjson} = await loadCommands()
  const visible = commands.filter(({hidden}) => !hidden).sort((a, b) => a.id.localeCompare(b.id))
  return `# svc

> ${pjson.description}

Results are printed on standard output, everything else on standard error. \`--json\` prints JSON (one value per line for
streams), \`-C DIR\` sets the working directory, \`-q\` hides notices, \`-\` reads standard input. Exit statuses: 0 success,
1 failed, 2 usage, 3 not found, 4 conflict or denied, 5 unavailable, 130 interrupted, 143 terminated. \`svc COMMAND --help\`
describes all flags; \`svc explain CODE\` explains an error code.

## Guides

- [Getting started](getting-started.md), [transcribe](transcribe.md), [listen](listen.md), [audio server](audio-server.md), [realtime](realtime.md), [serve](serve.md), [merge](merge.md)
- [Database](db.md), [data language](db-language.md), [diagnostics](db-diagnostics.md)
- [Tasks](orch.md), [workflows](workflow.md), [daemon](daemon.md), [MCP](mcp.md), [mesh](mesh.md)
- [Operations](operations.md), [configuration](configuration.md), [library](library.md), [guarantees](guarantees.md), [terms](terms.md)

## Commands

${visible.map(commandLine).join('\n')}
`
}

function commandLine({id, summary, args, flags, strict = true}: Command.Loadable): string {
  const shownArgs = Object.values(args).map(
    ({name, required}) => ` ${required ? name : `[${name}]`}${strict ? '' : '...'}`,
  )
  const own = Object.values(flags)
    .filter(({hidden, helpGroup}) => !hidden && helpGroup !== 'GLOBAL')
    .map(({name}) => `--${name}`)
  // The flags that all commands for speech share are listed once, by svc transcribe.
  const listed = own.length > 12 && id !== 'transcribe' ? [...own.slice(0, 8), '...'] : own
  return `- \`svc ${id.replaceAll(':', ' ')}${shownArgs.join('')}\`: ${summary}${listed.length === 0 ? '' : ` Flags: ${listed.join(' ')}`}`
}
