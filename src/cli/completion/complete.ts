import {resolve} from 'node:path'
import {type Candidate, type Candidates, candidatesOf} from './candidates.js'
import {
  type ArgumentEntry,
  type CommandEntry,
  type CommandTree,
  type FlagEntry,
  readCommandTree,
} from './command-tree.js'
import {valueKind} from './value-kind.js'

/** Maximum length of a description, characters. */
const maxLength = 80

/**
 * Entry point of completion: prints what can follow on a command line. The first line says which paths the shell offers:
 * `:words` none, `:dirs`, `:files`, or `:files wav mp3`. Each other line is a word, a tab, and its description.
 * @param words after `svc`; the last one is incomplete, and may be empty
 */
export async function complete(words: readonly string[]): Promise<void> {
  // No one reads the errors of a completion; without candidates, the shell rings the bell.
  process.stdout.write(printed(await follow(words, readCommandTree()).catch((): Candidates => nothing)))
}

/** What a shell reads. Terminals obey control characters, which other agents may have written into a description. */
export function printed({words, paths}: Candidates): string {
  const kind =
    paths === 'none' ? ':words' : paths === 'directories' ? ':dirs' : [':files', ...paths.extensions].join(' ')
  const lines = words.flatMap(({value, description = ''}) =>
    control.test(value) ? [] : [`${value}\t${oneLine(description)}`],
  )
  return `${[kind, ...lines].join('\n')}\n`
}

const control = /\p{Cc}/u

const nothing: Candidates = {words: [], paths: 'none'}

const oneLine = (text: string): string => {
  const line = text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line
}

/** Flags that may precede the command; it need not be known for them. */
const globalFlags: Readonly<Record<string, FlagEntry>> = {
  cwd: {name: 'cwd', type: 'option', char: 'C', helpValue: 'DIR'},
}

/** What can follow the words of a command line. */
export async function follow(words: readonly string[], tree: CommandTree): Promise<Candidates> {
  const line = new Line(tree)
  for (const word of words.slice(0, -1)) line.read(word)
  const typed = words.at(-1) ?? ''
  const {words: found, paths} = await line.next(typed)
  return {words: found.filter(({value}) => value.startsWith(typed)), paths}
}

/** The words of a command line before the incomplete one. */
class Line {
  readonly #tree: CommandTree
  /** Words of the command or topic. */
  #words: string[] = []
  readonly #values: string[] = []
  readonly #used = new Set<string>()
  /** The flag whose value comes next. */
  #flag: FlagEntry | undefined
  #isSeparated = false
  #cwd = process.cwd()

  constructor(tree: CommandTree) {
    this.#tree = tree
  }

  read(word: string): void {
    const flag = this.#flag
    this.#flag = undefined
    if (flag !== undefined) this.#readValue(flag, word)
    else if (this.#isSeparated) this.#values.push(word)
    else if (word === '--') this.#isSeparated = true
    else if (word.startsWith('-') && word !== '-') this.#readFlag(word)
    else if (this.#values.length === 0 && this.#below([...this.#words, word]).length > 0) this.#words.push(word)
    else if (word !== 'help' || this.#words.length > 0) this.#values.push(word)
  }

  /** What can replace an incomplete word. */
  async next(typed: string): Promise<Candidates> {
    if (this.#flag !== undefined) return this.#valuesOf(this.#flag)
    const [, name = '', separator] = (!this.#isSeparated && /^--([^=]+)(=)?/.exec(typed)) || []
    const flag = this.#flags[name]
    if (separator !== undefined && flag !== undefined) {
      const {words, paths} = await this.#valuesOf(flag)
      return {words: words.map((word) => ({...word, value: `--${name}=${word.value}`})), paths}
    }
    if (typed.startsWith('-') && !this.#isSeparated) return {words: this.#flagWords(), paths: 'none'}
    const argument = await this.#argument()
    return {words: [...this.#commandWords(), ...argument.words], paths: argument.paths}
  }

  get #command(): CommandEntry | undefined {
    return this.#tree.commands.get(this.#words.join(' '))
  }

  get #flags(): Readonly<Record<string, FlagEntry>> {
    return this.#command?.flags ?? globalFlags
  }

  #readFlag(word: string): void {
    const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? []
    const flag =
      this.#flags[name] ?? Object.values(this.#flags).find(({char}) => char !== undefined && word[1] === char)
    if (flag === undefined) return
    this.#used.add(flag.name)
    if (flag.type !== 'option') return
    if (value !== undefined) this.#readValue(flag, value)
    else if (name === '' && word.length > 2) this.#readValue(flag, word.slice(2))
    else this.#flag = flag
  }

  #readValue({name}: FlagEntry, value: string): void {
    if (name === 'cwd') this.#cwd = resolve(this.#cwd, value)
  }

  /** Commands and topics whose words start with these. */
  #below(words: readonly string[]): string[] {
    const start = words.join(' ')
    return [...this.#tree.commands.keys(), ...this.#tree.topics.keys()].filter(
      (id) => id === start || id.startsWith(`${start} `),
    )
  }

  /** The next words of commands. */
  #commandWords(): Candidate[] {
    if (this.#values.length > 0 || this.#isSeparated) return []
    const start = this.#words.map((word) => `${word} `).join('')
    const {commands, topics} = this.#tree
    const next = [...commands.keys(), ...topics.keys()].flatMap((id) => {
      const [word] = id.startsWith(start) ? id.slice(start.length).split(' ') : []
      return word === undefined || word === '' ? [] : [word]
    })
    return [...new Set(next)].sort().map((word) => {
      const id = `${start}${word}`
      return {value: word, description: commands.get(id)?.summary ?? topics.get(id)}
    })
  }

  #flagWords(): Candidate[] {
    return Object.values(this.#flags)
      .filter(({name, hidden, multiple}) => !hidden && (multiple || !this.#used.has(name)))
      .flatMap(({name, allowNo, description}) => [
        {value: `--${name}`, description},
        ...(allowNo ? [{value: `--no-${name}`, description}] : []),
      ])
  }

  /** Values of the argument at this position. */
  async #argument(): Promise<Candidates> {
    const command = this.#command
    const args = Object.values(command?.args ?? {})
    const last = args.at(-1)
    const isRepeated = last?.multiple === true || command?.strict === false
    const argument = args[this.#values.length] ?? (isRepeated ? last : undefined)
    return argument === undefined ? nothing : this.#valuesOf(argument)
  }

  async #valuesOf(entry: ArgumentEntry | FlagEntry): Promise<Candidates> {
    if (entry.options !== undefined) return {words: entry.options.map((value) => ({value})), paths: 'none'}
    const placeholder = 'type' in entry ? (entry.helpValue ?? '') : undefined
    return candidatesOf(valueKind({command: this.#words.join(' '), name: entry.name, placeholder}), this.#cwd)
  }
}
