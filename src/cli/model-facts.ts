import {readdir, stat} from 'node:fs/promises'
import {join} from 'node:path'
import type {ShowV1} from '../contracts/index.js'
import {counted, type SvcError} from '../errors/index.js'
import {isFolder} from '../files/index.js'
import type {ModelDefaults} from '../weights/index.js'
import {modelKind} from './model-kind.js'
import {megabytes} from './progress.js'
import {formatFacts} from './table.js'

type Problem = ShowV1['problems'][number]

/** What is known of a model, as commands print it with `--json`. */
export async function languageModelFacts(
  name: string,
  model: string,
  lookup: {
    cacheFolder?: string | undefined
    base?: string | undefined
    ignoreConfigKeys?: readonly string[] | undefined
  },
): Promise<ShowV1> {
  const {inspectModel} = await import('../llm/index.js')
  const found = await inspectModel(model, lookup)
  return {
    name,
    kind: 'language',
    path: found.path ?? model,
    family: found.family ?? null,
    bytes: found.bytes ?? null,
    parameters: found.parameterCount ?? null,
    context_length: found.contextLength ?? null,
    dtype: found.dtype ?? null,
    ...(found.types.length === 0
      ? {}
      : {
          types: found.types.map(({type, weights, bytes, roundingError}) => ({
            type,
            weights,
            bytes,
            w8_error: roundingError ?? null,
          })),
        }),
    adapter: found.adapted,
    capabilities: found.capabilities,
    precisions: found.precisions,
    precision: found.precision ?? null,
    license: found.license ?? null,
    ...declaredDefaults(found.defaults),
    problems: found.problems.map((problem) => asProblem(problem)),
  }
}

function declaredDefaults(defaults: ModelDefaults | undefined): Pick<ShowV1, 'defaults'> {
  const {system, template, stop, messages, parameters = {}} = defaults ?? {}
  const found = {
    ...(system === undefined ? {} : {system}),
    ...(template === undefined ? {} : {template}),
    ...(stop === undefined ? {} : {stop: [...stop]}),
    ...(messages === undefined ? {} : {messages: messages.length}),
    parameters: {...parameters},
  }
  return Object.keys(found).length === 1 && Object.keys(parameters).length === 0 ? {} : {defaults: found}
}

/** Whether a directory has no model of a kind that svc knows; what it lacks is found as for a language model. */
export const isForeign = async (path: string): Promise<boolean> =>
  (await isFolder(path)) && (await modelKind(path)) === 'other'

/** The same of a speech model. Its weights are not read. */
export async function speechModelFacts({name, folder}: {name: string; folder: string}): Promise<ShowV1> {
  const {speechModelFamily} = await import('../speech/index.js')
  const {readLicense} = await import('../llm/index.js')
  return {
    name,
    kind: 'speech',
    path: folder,
    family: (await speechModelFamily(folder)) ?? 'whisper',
    bytes: await sizeOf(folder),
    parameters: null,
    context_length: null,
    dtype: null,
    adapter: false,
    capabilities: ['transcription'],
    precisions: [],
    precision: null,
    license: (await readLicense(folder)) ?? null,
    problems: [],
  }
}

/** Size of a file, or of the files in a directory. */
async function sizeOf(path: string): Promise<number> {
  // A link can be dangling.
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory() !== true) return found?.size ?? 0
  const sizes = (await readdir(path)).map(async (name) => sizeOf(join(path, name)))
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

const asProblem = ({code, message, hint}: SvcError): Problem => ({code, message, remediation: hint})

/** The facts as a table, without those that are unknown, and the problems. @param width of the terminal */
export function formatModel(model: ShowV1, width?: number): string {
  const {kind, parameters, context_length: context, bytes, precision, precisions, capabilities, problems} = model
  const used = precisions.find((each) => each.precision === precision)
  const most = precisions.map(
    (each) => `${each.precision} ${megabytes(each.bytes)} MB${each.fits ? '' : ' (does not fit)'}`,
  )
  const rows = [
    ['name', model.name],
    ['kind', kind],
    ['family', model.family],
    ['parameters', parameters === null ? null : parametersText(parameters)],
    ['context', context === null ? null : counted(context, 'token')],
    ['weights', bytes === null ? null : `${megabytes(bytes)} MB${model.dtype === null ? '' : `, ${model.dtype}`}`],
    ['types', typesText(model.types)],
    ['w8 error', errorsText(model.types)],
    ['adapter', model.adapter ? 'yes' : null],
    ['memory', most.length === 0 ? null : most.join(', ')],
    ['precision', used === undefined ? (most.length === 0 ? null : 'none fits this machine') : used.precision],
    ['capabilities', capabilities.join(', ') || null],
    ['defaults', defaultsText(model)],
    ['licence', model.license],
    ['path', model.path],
    ['result', problems.length === 0 ? null : 'cannot be run'],
  ].flatMap(([name, value]) => (value === null ? [] : [[name as string, value as string]]))
  const faults = problems.map(({message, remediation}) => `\n${message}\n${remediation}\n`)
  return formatFacts([['FACT', 'VALUE'], ...rows], width) + faults.join('')
}

type Types = ShowV1['types']

const typesText = (types: Types): string | null =>
  types === undefined ? null : types.map(({type, bytes}) => `${type} ${megabytes(bytes)} MB`).join(', ')

/** Relative errors of rounding to 8 bits, in percent. */
function errorsText(types: Types): string | null {
  const errors = (types ?? []).flatMap(({type, w8_error: error}) =>
    error === null ? [] : [`${type} ${(100 * error).toFixed(1)} %`],
  )
  return errors.join(', ') || null
}

/** `temperature 0.6, top_p 0.9, stop "END", a system message` */
function defaultsText({defaults}: ShowV1): string | null {
  if (defaults === undefined) return null
  const {system, template, stop = [], messages = 0, parameters} = defaults
  const parts = [
    ...Object.entries(parameters).map(([name, value]) => `${name} ${value}`),
    ...stop.map((text) => `stop ${JSON.stringify(text)}`),
    ...(system === undefined ? [] : ['a system message']),
    ...(messages === 0 ? [] : [counted(messages, 'message')]),
    ...(template === undefined ? [] : [`the chat template ${template}`]),
  ]
  return parts.join(', ')
}

/** `494.0 million`, `1.54 billion` */
const parametersText = (count: number): string =>
  count >= 1e9 ? `${(count / 1e9).toFixed(2)} billion` : `${(count / 1e6).toFixed(1)} million`
