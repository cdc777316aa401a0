import {createHash} from 'node:crypto'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {writeFileAtomic} from './atomic-write.js'
import {checkOutputs, type OutputRule} from './output.js'

/** Beside generated files: the SHA-256 of each as it was written, by name. */
const listName = '.svc-generated.json'

/**
 * Writes generated files into a folder. One that is there is replaced where it is as it was generated before, and nobody
 * has changed it since; any other by the rule alone. All are checked before the first is written.
 * @param files texts by name
 * @throws output_exists, output_is_input, disk_full, file_unwritable
 */
export async function writeGenerated(
  folder: string,
  files: Readonly<Record<string, string>>,
  rule: OutputRule,
): Promise<void> {
  const list = join(folder, listName)
  const before = await readList(list)
  const changed: {path: string; text: string; isForeign: boolean}[] = []
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    const found = await readFile(path).catch(() => undefined)
    const digest = found === undefined ? undefined : digestOf(found)
    if (digest === digestOf(text)) continue
    changed.push({path, text, isForeign: digest === undefined || digest !== before.get(name)})
  }
  const foreign = changed.filter(({isForeign}) => isForeign)
  await checkOutputs(
    foreign.map(({path}) => path),
    rule,
  )
  for (const {path, text, isForeign} of changed) await writeFileAtomic(path, text, {keep: isForeign && !rule.overwrite})
  const after = new Map([...before, ...Object.entries(files).map(([name, text]) => [name, digestOf(text)] as const)])
  await writeFileAtomic(list, `${JSON.stringify(Object.fromEntries([...after].sort()), null, 2)}\n`)
}

const digestOf = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex')

/** Empty where there is no list, or one that cannot be read: then every file is somebody else's. */
async function readList(path: string): Promise<ReadonlyMap<string, unknown>> {
  try {
    return new Map(Object.entries(JSON.parse(await readFile(path, 'utf8')) as object))
  } catch {
    return new Map()
  }
}
