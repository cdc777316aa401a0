import {readFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {projectFile} from '../support/project.js'

/** The entry points of the package, with what each is for. */
const entries: Readonly<Record<string, string>> = {
  llm: 'Language models: load a model or run directory, generate, merge an adapter.',
  speech: 'Speech-to-text: open a model, transcribe recordings, format transcripts.',
  tasks: 'The task store of a workspace: submit, claim, complete and follow tasks; run the daemon.',
  mesh: 'The mesh: start a control plane, join it, hold leases, exchange messages.',
  lang: 'The data language: check, format and open programs, generate SQL, clients and OpenAPI, serve endpoints.',
}

/** The pages of `docs/api/` by their path in the project, made from the declarations that the build writes. */
export function apiPages(): Record<string, string> {
  const index = Object.entries(entries).map(
    ([name, summary]) => `| [\`svc-toolkit/${name}\`](${name}.md) | ${summary} |`,
  )
  return {
    'docs/api/README.md': `# Library API\n\n| Entry point | What it is for |\n| ----------- | -------------- |\n${index.join('\n')}\n\n[\`examples/api/\`](../../examples/api) has a program for each. All errors are instances of \`SvcError\`; \`svc explain CODE\` explains their codes.\n`,
    ...Object.fromEntries(
      Object.entries(entries).map(([name, summary]) => [`docs/api/${name}.md`, page(name, summary)]),
    ),
  }
}

interface Declaration {
  name: string
  doc: string
  code: string
}

function page(entry: string, summary: string): string {
  const declarations = declarationsOf(projectFile(`dist/src/library/${entry}.d.ts`))
  const isType = ({code}: Declaration) => /^(interface|type) /.test(code)
  const sections = [
    ['Functions and classes', declarations.filter((one) => !isType(one))],
    ['Types', declarations.filter(isType)],
  ] as const
  const text = sections.map(([title, all]) => `## ${title}\n\n${all.map(section).join('\n')}`).join('\n')
  return `# svc-toolkit/${entry}\n\n${summary}\n\n${text}`
}

const section = ({name, doc, code}: Declaration): string =>
  `### ${name}\n\n\`\`\`ts\n${code}\n\`\`\`\n${doc === '' ? '' : `\n${doc}\n`}`

/** The names that a declaration file exports, in order of their names. */
function declarationsOf(file: string): Declaration[] {
  const text = readFileSync(file, 'utf8')
  const own = [...text.matchAll(/^export declare \w+ (\w+)|^export (?:interface|type) (\w+)/gm)].map(
    ([, value, type]) => value ?? type ?? '',
  )
  return [...new Set([...own, ...reexports(text).map(({name}) => name)])]
    .sort((a, b) => a.localeCompare(b, 'en'))
    .map((name) => find(name, file) ?? {name, doc: '', code: name})
}

interface Reexport {
  name: string
  source: string
}

const reexports = (text: string): Reexport[] =>
  [...text.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']*)'/gm)].flatMap(([, names = '', source = '']) =>
    names
      .split(',')
      .map((name) => ({name: name.trim().replace(/^type /, ''), source}))
      .filter(({name}) => name !== ''),
  )

/** Follows an export to the file that declares it. */
function find(name: string, file: string): Declaration | undefined {
  const text = readFileSync(file, 'utf8')
  const found = declaration(name, text)
  if (found !== undefined) return found
  const sources = [
    ...reexports(text)
      .filter((one) => one.name === name)
      .map(({source}) => source),
    ...[...text.matchAll(/^export (?:type )?\* from '([^']*)'/gm)].map(([, source = '']) => source),
    // What is imported and exported again under its name.
    ...[...text.matchAll(/^import (?:type )?\{([^}]*)\} from '([^']*)'/gm)]
      .filter(([, names = '']) => names.split(',').some((one) => one.trim().replace(/^type /, '') === name))
      .map(([, , source = '']) => source),
  ]
  for (const source of sources.filter((one) => one.startsWith('.'))) {
    const target = find(name, join(dirname(file), source.replace(/\.js$/, '.d.ts')))
    if (target !== undefined) return target
  }
  return undefined
}

const docComment = '(?:/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/\\n)?'

function declaration(name: string, text: string): Declaration | undefined {
  const start = new RegExp(
    `^(${docComment})export (?:declare )?((?:abstract )?(?:class|interface|type|function|const) ${name}\\b)`,
    'm',
  ).exec(text)
  if (start === null) return undefined
  const [whole, comment = '', head = ''] = start
  const rest = text.slice(start.index + whole.length)
  const code = `${head}${rest.slice(0, endOf(rest))}`.replaceAll(/^ {4}(?:#private;|private .*;)\n/gm, '')
  return {name, doc: readComment(comment), code: code.trim()}
}

/** Where a declaration ends: a brace in the first column, or a semicolon outside of all brackets. */
function endOf(text: string): number {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ''
    if ('{(['.includes(character)) depth++
    else if ('})]'.includes(character)) {
      depth--
      if (depth === 0 && character === '}' && /^\n(?!\s*[|&])/.test(text.slice(at + 1, at + 3))) return at + 1
    } else if (character === ';' && depth === 0) return at
  }
  return text.length
}

/** The text of a doc comment as Markdown: tags become lists, an example a block. */
function readComment(comment: string): string {
  const text = comment
    .replace(/^\/\*\*\s?/, '')
    .replace(/\*\/\s*$/, '')
    .replaceAll(/^ *\* ?/gm, '')
    .trim()
  const [prose = '', example] = text.split(/\n?^@example\n?/m)
  const tags = prose
    .replaceAll(/(^|\s)@param (?:(\w+) )?/g, '\n- *$2* ')
    .replaceAll(/(^|\s)@returns /g, '\n- *returns* ')
    .replaceAll(/(^|\s)@throws /g, '\n- *throws* ')
    .replaceAll('- ** ', '- ')
  return [
    tags.replace(/\n- /, '\n\n- ').trim(),
    ...(example === undefined ? [] : [`\`\`\`js\n${example.trim()}\n\`\`\``]),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}
