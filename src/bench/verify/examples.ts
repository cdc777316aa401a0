import {existsSync} from 'node:fs'
import {readFile} from 'node:fs/promises'
import {join, resolve} from 'node:path'
import {isObject} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {isWithin, parseYaml} from '../../files/index.js'

/** An input with the output that its publisher gives for it. */
export interface PublishedExample {
  /** Text, or the path of a recording. */
  input: string
  output: string
  /** True for one that a reference implementation computed greedily, which must be equal. */
  isExact: boolean
}

function recordOf(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/**
 * The examples in the card of a model: the entries of `widget` in the metadata of its README.md that have an output. Inputs
 * that are on the network are left out.
 */
export async function cardExamples(folder: string, input: 'text' | 'src'): Promise<PublishedExample[]> {
  const file = join(folder, 'README.md')
  const text = await readFile(file, 'utf8').catch(() => '')
  const metadata = /^---\r?\n([\s\S]*?)\r?\n---/.exec(text)?.[1]
  if (metadata === undefined) return []
  const card: unknown = await parseYaml(metadata).catch(() => undefined)
  const widgets = isObject(card) && Array.isArray(card.widget) ? card.widget.filter(isObject) : []
  return widgets.flatMap((widget) => {
    const {[input]: given, output} = widget
    const wanted = isObject(output) ? output.text : undefined
    if (typeof given !== 'string' || typeof wanted !== 'string' || wanted.trim() === '') return []
    if (input === 'text') return [{input: given, output: wanted, isExact: false}]
    const path = resolve(folder, given)
    return isWithin(folder, path) && existsSync(path) ? [{input: path, output: wanted, isExact: false}] : []
  })
}

/**
 * Reads examples of a reference implementation: JSON Lines with `prompt` or `audio`, and `text`.
 * @throws file_unreadable, examples_invalid
 */
export async function readExamples(file: string, input: 'prompt' | 'audio'): Promise<PublishedExample[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw SvcError.from(error)
  })
  return text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return []
    const {[input]: given, text: output} = recordOf(line)
    if (typeof given !== 'string' || typeof output !== 'string')
      throw new SvcError('examples_invalid', {file, line: i + 1, input})
    return [{input: input === 'audio' ? resolve(file, '..', given) : given, output, isExact: true}]
  })
}
