import {readFile, writeFile} from 'node:fs/promises'
import {pathToFileURL} from 'node:url'
import {compile} from 'json-schema-to-typescript'
import {listContracts} from '../../src/contracts/index.js'
import {projectFile} from '../support/project.js'

const target = projectFile('src/contracts/types.ts')
const banner = '// Generated from contracts/ by `npm run contracts`. Do not edit.\n'

/** The TypeScript types of every schema, as one module. */
export async function generateTypes(): Promise<string> {
  const parts: string[] = []
  for (const {file} of await listContracts('schema')) {
    const {$id: _, ...schema} = JSON.parse(await readFile(file, 'utf8'))
    parts.push(
      await compile(schema, schema.title, {
        bannerComment: '',
        declareExternallyReferenced: true,
        style: {semi: false, singleQuote: true, bracketSpacing: false, printWidth: 120},
      }),
    )
  }
  return `${banner}\n${parts.join('\n')}`
}

export const readTypes = () => readFile(target, 'utf8')

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await writeFile(target, await generateTypes())
