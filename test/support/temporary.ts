import {mkdtempSync, rmSync} from 'node:fs'
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {after, type TestContext} from 'node:test'

/** Folders of this process, removed again when it ends: a hook that runs later may stop what still writes to one. */
const folders: string[] = []
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, {recursive: true, force: true, maxRetries: 5})
})

/** A function that removes a folder. It does not fail if something is still being written to it. */
function removal(folder: string): () => Promise<void> {
  folders.push(folder)
  return () => rm(folder, {recursive: true, force: true}).catch(() => undefined)
}

/** Creates a folder that is removed when this process ends. */
export function processFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'))
  folders.push(folder)
  return folder
}

/** Creates a folder that is removed when the test ends. */
export async function temporaryFolder(test: Pick<TestContext, 'after'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-'))
  test.after(removal(folder))
  return folder
}

/** Creates a folder for all tests of a suite, removed after them. */
export function suiteFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'))
  after(removal(folder))
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
