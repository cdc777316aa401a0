import {copyFile, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {projectFile} from '../support/project.js'
import {svcInTurn} from '../support/svc-in-turn.js'

/** A command of the tour: its words, what it shows, and the guide with more. Its output has no times or random ids. */
interface Shot {
  readonly name: string
  readonly words: readonly string[]
  readonly caption: string
  readonly guide: readonly [title: string, file: string]
}

const shots: readonly Shot[] = [
  {
    name: 'transcribe',
    words: ['transcribe', 'hello.wav', 'digits.wav', '-q'],
    caption: 'Transcribe recordings to text.',
    guide: ['Transcribe', 'transcribe.md'],
  },
  {
    name: 'generate',
    words: ['generate', '--model', 'examples/runs/guide', '--temperature', '0', '-q', 'How do I transcribe a file?'],
    caption: 'Generate text with a model in a directory. This small model comes with svc and knows only svc.',
    guide: ['Serve and generate', 'serve.md'],
  },
  {
    name: 'db-check',
    words: ['db', 'check', 'notes.svc'],
    caption: 'Check a program of the data language. An error is shown where it is.',
    guide: ['Database', 'db.md'],
  },
  {
    name: 'db-migrate',
    words: ['db', 'migrate', 'todo.svc'],
    caption: 'Create a database from a program, or change it to match.',
    guide: ['Database', 'db.md'],
  },
  {
    name: 'db-query',
    words: ['db', 'query', '--program', 'todo.svc', 'db.Todo.where({ done: false }).count()'],
    caption: 'Query the database with an expression, or with SQL.',
    guide: ['Database', 'db.md'],
  },
  {
    name: 'workflow-check',
    words: ['workflow', 'check', 'release.yaml'],
    caption: 'Check a workflow, with the expressions in it.',
    guide: ['Workflows', 'workflow.md'],
  },
  {
    name: 'orch-submit',
    words: ['orch', 'submit', 'Update the changelog', '--priority', 'urgent'],
    caption: 'Submit a task to the queue of a directory.',
    guide: ['Tasks', 'orch.md'],
  },
  {
    name: 'orch-tasks',
    words: ['orch', 'tasks', '--columns', 'task,status,priority,agent,description'],
    caption: 'List the tasks. `--columns` selects columns.',
    guide: ['Tasks', 'orch.md'],
  },
  {
    name: 'did-you-mean',
    words: ['orch', 'run', 'Update the changelog'],
    caption: 'A mistyped command, or the command of another program, names the right one.',
    guide: ['Getting started', 'getting-started.md'],
  },
  {
    name: 'explain',
    words: ['explain', 'port_in_use'],
    caption: 'Explain the code of an error.',
    guide: ['Getting started', 'getting-started.md'],
  },
]

const notes = `@table type Note { title: str, done: bool }

@endpoint(kind: query)
fn open() to List[Note] { return db.Note.where({ don: false }) }
`

const release = `version: 1
workflows:
  release:
    input: {version: {description: The new version}}
    steps:
      - exec: [echo, 'Released \${{ inptu.version }}']
`

/** The tour: a page, and a picture for each command, made from what the command prints. */
export async function terminalPictures(): Promise<Record<string, string>> {
  const cwd = await mkdtemp(join(tmpdir(), 'svc-tour-'))
  try {
    for (const file of ['hello.wav', 'digits.wav', 'todo.svc'])
      await copyFile(projectFile(`examples/${file}`), join(cwd, file))
    await writeFile(join(cwd, 'notes.svc'), notes)
    await writeFile(join(cwd, 'release.yaml'), release)
    const pages: Record<string, string> = {'docs/tour.md': tour}
    for (const {name, words} of shots) {
      const args = words.map((word) => (word.startsWith('examples/') ? projectFile(word) : word))
      const {stdout, stderr} = await svcInTurn(args, {cwd, env: {HOME: cwd}})
      pages[`docs/tour/${name}.svg`] = picture(words, `${stdout}${stderr}`)
    }
    return pages
  } finally {
    await rm(cwd, {recursive: true, force: true})
  }
}

const typed = (words: readonly string[]): string =>
  `svc ${words.map((word) => (/[^\w./,-]/.test(word) ? `'${word}'` : word)).join(' ')}`

const tour = `# A tour in ten pictures

Each picture is what the command prints on a terminal. \`npm run docs\` makes them again.
${shots
  .map(
    ({name, words, caption, guide: [title, file]}) => `
${caption} More: [${title}](${file}).

![${typed(words).replaceAll(/[[\]]/g, '\\$&')}](tour/${name}.svg)
`,
  )
  .join('')}`

/** Size of the terminal, columns, and of a character, pixels. */
const columns = 96
const [charWidth, lineHeight, margin] = [8.43, 20, 16]

/** What a terminal shows, as an SVG. */
function picture(words: readonly string[], output: string): string {
  const lines = [`$ ${typed(words)}`, ...output.trimEnd().split('\n')].flatMap(rows)
  const [width, height] = [Math.ceil(columns * charWidth) + 2 * margin, lines.length * lineHeight + 2 * margin]
  const texts = lines.flatMap((line, i) =>
    line === '' ? [] : [`<text x="${margin}" y="${margin + i * lineHeight + 15}">${escaped(line)}</text>`],
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="${escaped(typed(words))}">
<style>text { font: 14px ui-monospace, Menlo, Consolas, monospace; fill: #e5e7eb; white-space: pre }</style>
<rect width="${width}" height="${height}" rx="8" fill="#111827" />
${texts.join('\n')}
</svg>
`
}

/** A line as a terminal breaks it. */
const rows = (line: string): string[] => line.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? ['']

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
