import type {Setting, SettingRows, SettingTable} from './setting.js'
import {engineSettings} from './tables/engine.js'
import {inferenceSettings} from './tables/inference.js'
import {loggingSettings} from './tables/logging.js'
import {orchestratorSettings} from './tables/orchestrator.js'
import {serveSettings} from './tables/serve.js'
import {speechSettings} from './tables/speech.js'
import {speechAudioSettings} from './tables/speech-audio.js'
import {speechRefineSettings} from './tables/speech-refine.js'

/** A setting in the template, with a value that is an example or the default. */
interface Line {
  section: string
  key: string
  value: unknown
  doc: string
}

/** Settings by name, with examples for those without a default. */
const linesOf = <R extends SettingRows>(
  table: SettingTable<R>,
  names: readonly (keyof R & string)[],
  examples: Partial<Record<keyof R, unknown>> = {},
): Line[] =>
  names.map((name) => {
    const setting = table.rows[name] as Setting
    const [section = '', key = ''] = setting.toml?.[0]?.split('.') ?? []
    return {section, key, value: examples[name] ?? setting.default, doc: setting.doc}
  })

const header = `# Settings of svc in this directory and its subdirectories.
# Lines such as #port = 11435 show the default of a setting, or an example. To change it, remove the # and edit the value.
# Flags and environment variables override this file. docs/configuration.md describes all settings.
`

/** A \`Svc.toml\` with the settings that most people change first, all commented out. */
export function configTemplate(): string {
  const lines = [
    ...linesOf(
      engineSettings,
      ['model', 'precision', 'threads', 'numCtx', 'maxTokens', 'temperature', 'topK', 'topP'],
      {
        model: './models/my-model',
      },
    ),
    ...linesOf(serveSettings, ['host', 'port', 'parallel', 'prefixCache', 'keepAlive']),
    ...linesOf(speechSettings, ['model', 'language', 'precision', 'beamSize', 'wordTimestamps'], {
      model: 'tiny.en',
      language: 'en',
    }),
    ...linesOf(speechAudioSettings, ['vad', 'channels']),
    ...linesOf(speechRefineSettings, ['sessionHotwords'], {sessionHotwords: ['svc', 'ONNX Runtime']}),
    ...linesOf(inferenceSettings, ['url']),
    ...linesOf(orchestratorSettings, ['maxAgents', 'taskTimeoutMs', 'defaultPriority']),
    ...linesOf(loggingSettings, ['filter', 'format']),
  ]
  const sections = [...new Set(lines.map(({section}) => section))]
  const parts = sections.map((section) => {
    const rows = lines.filter((line) => line.section === section)
    return `\n[${section}]\n${rows.map(({key, value, doc}) => `# ${doc}\n#${key} = ${JSON.stringify(value)}\n`).join('')}`
  })
  return header + parts.join('')
}
