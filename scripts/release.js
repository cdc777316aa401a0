/**
 * Releases a version: npm run release -- 0.2.0
 *
 * Sets the version of the package, dates the section "Unreleased" of CHANGELOG.md, regenerates what contains the version,
 * commits and tags. Nothing is pushed or published.
 */
import {execFileSync} from 'node:child_process'
import {readFileSync, writeFileSync} from 'node:fs'

const [version = ''] = process.argv.slice(2)
const run = (program, ...args) => execFileSync(program, args, {encoding: 'utf8'}).trim()
const npm = (...args) => run(process.execPath, process.env.npm_execpath, ...args)

function fail(message) {
  process.stderr.write(`release: ${message}\n`)
  process.exit(1)
}

if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) fail('pass a version, such as 0.2.0.')
if (run('git', 'status', '--porcelain') !== '') fail('commit or discard your changes first.')
if (run('git', 'tag', '--list', `v${version}`) !== '') fail(`the tag v${version} exists.`)

const changelog = readFileSync('CHANGELOG.md', 'utf8')
const section = /^## Unreleased\n(.*?)(?=^## |$(?![\s\S]))/ms.exec(changelog)
if (!section?.[1]?.trim()) fail('CHANGELOG.md has no section "Unreleased", or it is empty.')

const today = new Date().toISOString().slice(0, 10)
const dated = `## Unreleased\n\n## ${version} - ${today}\n`
writeFileSync(
  'CHANGELOG.md',
  changelog.replace('## Unreleased\n', () => dated),
)
npm('version', version, '--no-git-tag-version', '--allow-same-version')
for (const script of ['build', 'man', 'docs', 'names']) npm('run', script)
run('git', 'commit', '--all', '--message', `Release ${version}`)
run(
  'git',
  'tag',
  '--annotate',
  '--cleanup=whitespace',
  `v${version}`,
  '--message',
  `Version ${version}\n\n${section[1].trim()}`,
)
process.stdout.write(`Committed and tagged v${version}. Publish it with: git push --follow-tags\n`)
