import {readdir, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'

/**
 * The packages from which a process or one of its threads has loaded code. `run` starts the process with the passed
 * environment and waits for its end. V8 coverage lists every script; a bundle names its packages in its first line.
 */
export async function packagesLoadedBy(
  folder: string,
  run: (env: {NODE_V8_COVERAGE: string}) => Promise<unknown>,
): Promise<ReadonlySet<string>> {
  const reports = join(folder, 'coverage')
  await run({NODE_V8_COVERAGE: reports})
  const packages = new Set<string>()
  for (const file of await readdir(reports)) {
    const {result} = JSON.parse(await readFile(join(reports, file), 'utf8')) as {result: {url: string}[]}
    for (const {url} of result) for (const name of await packagesOf(url)) packages.add(name)
  }
  return packages
}

async function packagesOf(url: string): Promise<string[]> {
  const installed = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]
  if (installed !== undefined) return [installed.replace(/-v12$/, '')]
  if (!url.includes('/dist/bundle/')) return []
  const [line = ''] = (await readFile(fileURLToPath(url), 'utf8')).split('\n', 1)
  return [...line.matchAll(/(\S+)@\d\S*/g)].map(([, name = '']) => name)
}
