import {createHash} from 'node:crypto'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {SvcError} from '../errors/index.js'
import {packageRoot} from '../files/index.js'

/** An entry of `skills/list`, as the extension of MCP for skills (SEP-2640) defines it. */
export interface Skill {
  /** Of its SKILL.md. */
  uri: string
  frontmatter: {name: string; description: string}
  /** Its files, with their SHA-256 (`sha256:HEX`) and their size in bytes. */
  resources: {uri: string; digest: string; size: number}[]
}

export interface SkillFile {
  uri: string
  mimeType: 'text/markdown'
  text: string
}

/** How long clients can keep the skills, which change with the version only. */
export const skillCache = {ttlMs: 300_000, cacheScope: 'public'} as const

/** The guides in `docs`, each a skill, with the pages that it refers to. Pages about the project itself are left out. */
const guides: Readonly<Record<string, readonly string[]>> = {
  'audio-server': ['realtime'],
  daemon: [],
  db: ['db-language', 'db-diagnostics'],
  'getting-started': [],
  listen: [],
  mcp: [],
  merge: [],
  mesh: [],
  operations: ['configuration'],
  orch: [],
  serve: [],
  transcribe: [],
  workflow: [],
}

const root = (guide: string) => `skill://svc-${guide}`

/** The URI of each page. */
const uris: ReadonlyMap<string, string> = new Map(
  Object.entries(guides).flatMap(([guide, pages]) => [
    [guide, `${root(guide)}/SKILL.md`] as const,
    ...pages.map((page) => [page, `${root(guide)}/references/${page}.md`] as const),
  ]),
)

let loaded: Promise<{skills: readonly Skill[]; files: ReadonlyMap<string, SkillFile>}> | undefined

/** The skills, by URI. */
export async function listSkills(): Promise<readonly Skill[]> {
  loaded ??= load()
  return (await loaded).skills
}

/** @throws resource_not_found */
export async function requireSkill(uri: string): Promise<Skill> {
  const found = (await listSkills()).find((skill) => skill.uri === uri)
  if (found === undefined) throw new SvcError('resource_not_found', {uri})
  return found
}

/** @throws resource_not_found */
export async function readSkillFile(uri: string): Promise<SkillFile> {
  loaded ??= load()
  const found = (await loaded).files.get(uri)
  if (found === undefined) throw new SvcError('resource_not_found', {uri})
  return found
}

async function load() {
  const read = async (page: string): Promise<string> => readFile(join(packageRoot, 'docs', `${page}.md`), 'utf8')
  const files = new Map<string, SkillFile>()
  const skills: Skill[] = []
  for (const [guide, pages] of Object.entries(guides)) {
    const text = await read(guide)
    const frontmatter = {name: `svc-${guide}`, description: descriptionOf(text)}
    // A string of JSON is one of YAML.
    const head = Object.entries(frontmatter).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    const own: [page: string, content: string][] = [[guide, `---\n${head.join('')}---\n${withUris(text)}`]]
    for (const page of pages) own.push([page, withUris(await read(page))])
    const resources = own.map(([page, content]) => {
      const uri = uris.get(page) as string
      files.set(uri, {uri, mimeType: 'text/markdown', text: content})
      const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`
      return {uri, digest, size: Buffer.byteLength(content)}
    })
    skills.push({uri: `${root(guide)}/SKILL.md`, frontmatter, resources: resources.sort(byUri)})
  }
  return {skills: skills.sort(byUri), files}
}

const byUri = ({uri: a}: {uri: string}, {uri: b}: {uri: string}) => (a < b ? -1 : 1)

/** The title of a page and its first paragraph. */
function descriptionOf(text: string): string {
  const [, title = '', paragraph = ''] = /^# (.+)\n\n((?:.+\n)+)/.exec(text) ?? []
  const plain = paragraph.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('\n', ' ')
  return `Guide to the command svc: ${title}. ${plain.trim()}`
}

/** Links to pages become those of their skills; the text of links to other files stays. */
const withUris = (text: string): string =>
  text.replaceAll(/(\[[^\][]+\])\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)/g, (_, label: string, path: string, place = '') => {
    const uri = uris.get(path.replace(/\.md$/, ''))
    return uri === undefined ? label.slice(1, -1) : `${label}(${uri}${place})`
  })
