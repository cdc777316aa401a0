import {existsSync} from 'node:fs'
import {dirname, resolve} from 'node:path'
import {nearest, SvcError} from '../errors/index.js'
import {type ModelFile, parameterFault} from './model-defaults.js'

/** What a Modelfile of Ollama declares, and the parameters in it that have no effect here. */
export interface ImportedModelfile {
  model: ModelFile & {from: string}
  ignored: string[]
}

interface Instruction {
  line: number
  name: string
  value: string
}

/** Parameters that only set how Ollama runs a model; its texts are the same without them. */
const withoutEffect = [
  'num_gpu',
  'main_gpu',
  'num_thread',
  'num_batch',
  'num_keep',
  'use_mmap',
  'use_mlock',
  'low_vram',
  'numa',
]

/**
 * Reads a Modelfile of Ollama.
 * @param file for errors; relative paths in it start at its directory
 * @throws modelfile_invalid with the line
 */
export function readModelfile(source: string, file: string): ImportedModelfile {
  const folder = dirname(file)
  const parameters: Record<string, number> = {}
  const texts: Record<string, string> = {}
  const stop: string[] = []
  const messages: NonNullable<ModelFile['messages']>[number][] = []
  const ignored: string[] = []
  const handlers: Readonly<Record<string, (value: string, wrong: (reason: string) => SvcError) => void>> = {
    FROM: (value) => {
      texts.from = pathOrId(value, folder)
    },
    ADAPTER: (value, wrong) => {
      texts.adapter = adapterFolder(resolve(folder, value), wrong)
    },
    SYSTEM: (value) => {
      texts.system = value
    },
    LICENSE: (value) => {
      texts.license = texts.license === undefined ? value : `${texts.license}\n${value}`
    },
    TEMPLATE: (_, wrong) => {
      throw wrong(
        'TEMPLATE has the syntax of Go; remove it to use the chat template of the model, or add template = "FILE" with a Jinja template to the written file',
      )
    },
    MESSAGE: (value, wrong) => {
      const [, role = '', content = ''] = /^(system|user|assistant)\s+(.*)$/s.exec(value) ?? []
      if (role === '') throw wrong('MESSAGE must have a role (system, user or assistant) and a text')
      messages.push({role: role as 'system', content: unquoted(content)})
    },
    PARAMETER: (value, wrong) => {
      const [, name = '', text = ''] = /^(\S+)\s+(.*)$/s.exec(value) ?? []
      if (withoutEffect.includes(name)) ignored.push(name)
      else if (name === 'stop') stop.push(unquoted(text))
      else {
        const number = Number(text)
        const reason = parameterFault(name, text === '' || Number.isNaN(number) ? text : number)
        if (reason !== undefined) throw wrong(`PARAMETER ${reason}`)
        parameters[name] = number
      }
    },
  }
  for (const {line, name, value} of instructionsOf(source, file)) {
    const wrong = (reason: string) => new SvcError('modelfile_invalid', {file, line, reason})
    const handle = handlers[name]
    if (handle === undefined) {
      const suggestion = nearest(name, Object.keys(handlers))
      throw wrong(
        `the instruction ${name} is unknown${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`,
      )
    }
    if (value === '') throw wrong(`${name} has no value`)
    handle(value, wrong)
  }
  const {from, ...others} = texts
  if (from === undefined) throw new SvcError('modelfile_invalid', {file, line: 1, reason: 'FROM is missing'})
  return {
    model: {
      from,
      ...others,
      ...(stop.length === 0 ? {} : {stop}),
      ...(messages.length === 0 ? {} : {messages}),
      parameters,
    },
    ignored,
  }
}

/** An instruction ends with its line, or with the quotes that end its text. @throws modelfile_invalid */
function* instructionsOf(source: string, file: string): Generator<Instruction> {
  const lines = source.replace(/^\uFEFF/, '').split(/\r?\n/)
  for (let at = 0; at < lines.length; at++) {
    const text = (lines[at] ?? '').trim()
    if (text === '' || text.startsWith('#')) continue
    const line = at + 1
    const [, word = '', rest = ''] = /^(\S+)\s*(.*)$/.exec(text) ?? []
    let value = rest
    const quotes = value.indexOf('"""')
    // Only MESSAGE has a word, the role, before a text in quotes.
    if (quotes >= 0)
      while (value.indexOf('"""', quotes + 3) < 0) {
        if (++at >= lines.length)
          throw new SvcError('modelfile_invalid', {file, line, reason: `the quotes of ${word} are not closed`})
        value += `\n${lines[at]}`
      }
    const name = word.toUpperCase()
    yield {line, name, value: ['MESSAGE', 'PARAMETER'].includes(name) ? value.trim() : unquoted(value)}
  }
}

/** A text without the quotes around it, `"` or three of them. */
function unquoted(text: string): string {
  const trimmed = text.trim()
  const [, long] = /^"""(.*)"""$/s.exec(trimmed) ?? []
  const [, short] = /^"(.*)"$/s.exec(trimmed) ?? []
  return long ?? short ?? trimmed
}

const pathOrId = (value: string, folder: string): string =>
  /^[./~\\]/.test(value) || existsSync(resolve(folder, value)) ? resolve(folder, value) : value

/** The directory of an adapter of PEFT, whose weights or directory are named. */
function adapterFolder(path: string, wrong: (reason: string) => SvcError): string {
  const folder = path.endsWith('.safetensors') ? dirname(path) : path
  if (existsSync(resolve(folder, 'adapter_config.json'))) return folder
  throw wrong(`ADAPTER must name the directory of an adapter of PEFT, with adapter_config.json; ${path} is none`)
}
