import {readFile, writeFile} from 'node:fs/promises'
import {pathToFileURL} from 'node:url'
import {aliases} from '../../src/mcp/index.js'
import {projectFile} from '../support/project.js'
import {registryDocument} from './registry-document.js'

/** Checked-in lists of tools and aliases. */
export const registryFile = projectFile('contracts/mcp/tool-registry.v1.json')
export const aliasesFile = projectFile('contracts/mcp/tool-aliases.v1.json')

const asFile = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

export const registryText = () => asFile(registryDocument())

export const aliasesText = () =>
  asFile({version: 1, aliases: Object.entries(aliases).map(([alias, canonical]) => ({alias, canonical}))})

const publishedFile = projectFile('test/mcp/published-tool-names.json')

/** All tool names ever published. */
export const publishedNames = async (): Promise<string[]> => JSON.parse(await readFile(publishedFile, 'utf8'))

/** Rewrites the lists and appends new names to the published ones, which are never removed. */
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await writeFile(registryFile, registryText())
  await writeFile(aliasesFile, aliasesText())
  const names = new Set([...(await publishedNames()), ...registryDocument().tools.map(({name}) => name)])
  await writeFile(publishedFile, asFile([...names].sort()))
}
