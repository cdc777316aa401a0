/**
 * Checks the prose of the project, for `npm run lint`: guides, examples, help, manual, errors, settings, descriptions of
 * contracts and comments; and the links of all pages.
 */
import {readdirSync, readFileSync} from 'node:fs'
import {loadCommands} from '../../src/cli/package.js'
import {settingTables} from '../../src/config/index.js'
import {explainErrors} from '../../src/errors/index.js'
import {explainDiagnostics} from '../../src/lang/index.js'
import {projectFile} from '../support/project.js'
import {commentsOf} from './comments.js'
import {linkFindings, pagesBelow} from './links.js'
import {proseFindings, summaryFindings, type Text} from './prose.js'

/** The verbs that summaries of commands start with. */
const verbs = new Set(
  `Acknowledge Add Answer Approve Ask Back Break Change Count Execute Mark Call Cancel Chat Check Claim Close Compact Complete Configure Connect Create Deliver Delete Display
   Download Drain Drop Evaluate Explain Export Extend Fail Follow Format Generate Grant Import Insert Join Leave List
   Make Measure Merge Migrate Move Open Pause Preview Print Quarantine Query Read Rebalance Record Redo Reject Renew
   Release Reload Remove Reorder Replay Replan Requeue Reset Resolve Restore Resume Retire Retry Return Revoke Run Sample Seed Send
   Serve Set Show Spawn Start Stop Submit Transcribe Undo Validate Verify Watch Write`
    .trim()
    .split(/\s+/),
)

/** The paragraphs of a file, each with its first line. */
function paragraphs(path: string): Text[] {
  const text = readFileSync(projectFile(path), 'utf8').replaceAll(/^```.*?^```$/gms, (block) =>
    block.replaceAll(/[^\n]/g, ''),
  )
  return [...text.matchAll(/(?:.+\n?)+/g)].map(({0: paragraph, index}) => ({
    place: `${path}:${text.slice(0, index).split('\n').length}`,
    text: paragraph,
  }))
}

const filesBelow = (folder: string, ending: RegExp): string[] =>
  readdirSync(projectFile(folder), {recursive: true, encoding: 'utf8'})
    .filter((file) => ending.test(file) && !/node_modules|generated/.test(file))
    .map((file) => `${folder}/${file}`)

const comments = (path: string): Text[] => commentsOf(path, readFileSync(projectFile(path), 'utf8'))

/** The descriptions of a JSON document. */
function descriptions(path: string): Text[] {
  const text = readFileSync(projectFile(path), 'utf8')
  return [...text.matchAll(/"description": ("(?:[^"\\]|\\.)*")/g)].map(({1: json = '""', index}) => ({
    place: `${path}:${text.slice(0, index).split('\n').length}`,
    text: JSON.parse(json) as string,
  }))
}

const {commands} = await loadCommands()
const shown = commands.filter(({hidden}) => !hidden)
const helpTexts = shown.flatMap(({id, summary = '', description = '', flags, args}) => {
  const place = `svc ${id.replaceAll(':', ' ')}`
  return [
    {place, text: summary},
    {place, text: description},
    ...Object.values(args).map((arg) => ({place: `${place} ${arg.name}`, text: arg.description ?? ''})),
    ...Object.values(flags).map((flag) => ({
      place: `${place} --${flag.name}`,
      text: flag.summary ?? flag.description ?? '',
    })),
  ]
})
const errorTexts = (await explainErrors()).flatMap(({code, cause, fix, message}) =>
  [cause, fix, message].map((text) => ({place: `error ${code}`, text})),
)
const diagnosticTexts = (await explainDiagnostics()).flatMap(({code, cause, fix}) =>
  [cause, fix].map((text) => ({place: `diagnostic ${code}`, text})),
)
const settingTexts = settingTables.flatMap(({name, rows}) =>
  Object.entries(rows).map(([key, {doc}]) => ({place: `setting ${name} ${key}`, text: doc})),
)
/** Pages that quote what they advise against. */
const unchecked = new Set(['docs/terms.md', 'docs/contributing/style.md'])
const guides = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']
const pages = ['docs', 'docs/contributing'].flatMap((folder) =>
  readdirSync(projectFile(folder)).flatMap((file) =>
    file.endsWith('.md') && !unchecked.has(`${folder}/${file}`) ? [`${folder}/${file}`] : [],
  ),
)

const findings = [
  ...summaryFindings(
    shown.map(({id, summary = ''}) => ({place: `svc ${id.replaceAll(':', ' ')}`, text: summary})),
    verbs,
  ),
  ...proseFindings([
    ...[...guides, ...pages, ...filesBelow('examples', /\.md$/)].flatMap(paragraphs),
    ...['src', 'commands', 'test'].flatMap((folder) => filesBelow(folder, /\.ts$/)).flatMap(comments),
    ...filesBelow('contracts', /\.json$/).flatMap(descriptions),
    ...helpTexts,
    ...errorTexts,
    ...diagnosticTexts,
    ...settingTexts,
  ]),
  ...linkFindings(projectFile('.'), pagesBelow(projectFile('.'))),
]
for (const {place, rule} of findings) process.stdout.write(`${place}: ${rule}\n`)
process.stdout.write(`prose: ${findings.length} findings\n`)
process.exitCode = findings.length === 0 ? 0 : 1
