/**
 * Writes `openapi.ts` next to each OpenAPI document that is passed, with the types that openapi-typescript generates. Runs
 * as a process of its own, since that package needs the programming interface that TypeScript had until version 5.
 */
import {readFile, writeFile} from 'node:fs/promises'
import {register} from 'node:module'
import {dirname, join} from 'node:path'

const redirect = `export const resolve = (specifier, context, next) =>
  next(specifier === 'typescript' ? 'typescript-v5' : specifier, context)`
register(`data:text/javascript,${encodeURIComponent(redirect)}`)

const {default: generate, astToString} = await import('openapi-typescript')
for (const path of process.argv.slice(2)) {
  const types = await generate(await readFile(path, 'utf8'))
  await writeFile(join(dirname(path), 'openapi.ts'), astToString(types))
}
