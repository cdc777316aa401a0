import {readdir, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {explainErrors} from '../errors/index.js'
import {packageRoot} from '../files/index.js'
import {type Commands, helpText, nameOf} from './manifest.js'
import {sectionsOf} from './markdown.js'

/** Where a passage is. */
export interface Place {
  /** A file such as `docs/listen.md`, or a command that prints the passage: `svc listen --help`, `svc explain CODE`. */
  page: string
  /** Titles, the outermost first. */
  headings: string[]
}

/** A part of the documentation that can answer a question. */
export interface Passage extends Place {
  /** Markdown. */
  text: string
}

/** A passage that answers a question. */
export interface FoundPassage {
  /** A file of the package, such as `docs/listen.md`, or the command that prints it, such as `svc listen --help`. */
  page: string
  /** Titles, the outermost first. */
  headings: string[]
  /** The part of the passage that answers the question, as Markdown. */
  text: string
  /** Commands of svc in the text, as they can be run apart from placeholders. */
  commands: string[]
  /** How well it fits, in relation to the other passages only. */
  score: number
}

export const placeOf = ({page, headings}: Passage): Place => ({page, headings})

/** Pages that are about other things than the use of svc. */
const otherPages = new Set(['README.md', 'architecture.md', 'benchmarks.md'])

/** Reads passages where they are. */
export class Library {
  readonly #commands
  readonly #pages = new Map<string, Promise<Passage[]>>()

  constructor(commands: Commands) {
    this.#commands = commands
  }

  /** All passages, in an order that is the same at each call: pages, commands, errors. */
  async all(): Promise<Passage[]> {
    const folder = await readdir(join(packageRoot, 'docs'))
    const names = folder.filter((name) => name.endsWith('.md') && !otherPages.has(name)).sort()
    const sources = [...names.map((name) => `docs/${name}`), 'svc --help', 'svc explain ']
    return (await Promise.all(sources.map((source) => this.#read(source)))).flat()
  }

  /** Throws if the index is older than the documentation. */
  async passageAt({page, headings}: Place): Promise<Passage> {
    const known = await this.#read({page, command: 'svc --help', error: 'svc explain '}[kindOf(page)])
    const found = known.find((one) => one.page === page && one.headings.join('\n') === headings.join('\n'))
    if (found === undefined) throw new Error(`The index of the help is older than ${page}. Run: npm run build`)
    return found
  }

  /** The passages of a page, of all commands or of all errors, read once. */
  #read(source: string): Promise<Passage[]> {
    const known = this.#pages.get(source)
    if (known !== undefined) return known
    const kind = kindOf(source)
    const passages =
      kind === 'page'
        ? passagesOfPage(source)
        : kind === 'error'
          ? passagesOfErrors()
          : Promise.resolve(passagesOfCommands(this.#commands))
    this.#pages.set(source, passages)
    return passages
  }
}

/** What prints a passage. */
export const kindOf = (page: string): 'page' | 'command' | 'error' =>
  page.startsWith('docs/') ? 'page' : page.endsWith(' --help') ? 'command' : 'error'

async function passagesOfPage(page: string): Promise<Passage[]> {
  const text = await readFile(join(packageRoot, page), 'utf8')
  return sectionsOf(text).map((section) => ({page, ...section}))
}

const passagesOfCommands = (commands: Commands): Passage[] =>
  Object.values(commands)
    .filter(({hidden, id}) => !hidden && id !== 'ask')
    .map((command) => ({
      page: `${nameOf(command)} --help`,
      headings: [nameOf(command), command.summary ?? ''],
      text: helpText(command),
    }))

const passagesOfErrors = async (): Promise<Passage[]> =>
  (await explainErrors()).map(({code, exit, http, cause, message, fix}) => ({
    page: `svc explain ${code}`,
    headings: [code],
    text: [message, cause, fix, `Exit status ${exit}, HTTP status ${http}.`].filter(Boolean).join('\n\n'),
  }))
