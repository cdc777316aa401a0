import {mkdtempSync} from 'node:fs'
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {after, type TestContext} from 'node:test'

/** Creates a folder that is removed when the test ends. */
export async function temporaryFolder(test: Pick<TestContext, 'after'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-'))
  test.after(() => rm(folder, {recursive: true, force: true}))
  return folder
}

/** Creates a folder for all tests of a suite, removed after them. */
export function suiteFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'))
  after(() => rm(folder, {recursive: true, force: true}))
  return folder
}

/** Writes files below a folder, by relative path. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path)
    await mkdir(dirname(file), {recursive: true})
    await writeFile(file, content)
  }
}
