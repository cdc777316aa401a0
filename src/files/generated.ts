import {createHash} from 'node:crypto'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {writeFileAtomic} from './atomic-write.js'
import {checkOutputs, type OutputRule} from './output.js'

/** File next to generated files that contains their SHA-256 by name. */
const listName = '.svc-generated.json'

/**
 * Writes generated files into a folder. An existing file is replaced if it has not changed since it was generated;
 * other files only if the rule permits it. All files are checked before the first one is written.
 * @param files contents by name
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

/** Reads the list; empty if it is missing or unreadable, so that no existing file counts as generated. */
async function readList(path: string): Promise<ReadonlyMap<string, unknown>> {
  try {
    return new Map(Object.entries(JSON.parse(await readFile(path, 'utf8')) as object))
  } catch {
    return new Map()
  }
}
