import {readdir, stat} from 'node:fs/promises'
import {join, resolve} from 'node:path'
import {cwd} from 'node:process'
import type {ListV1} from '../contracts/index.js'
import {isFolder} from '../files/index.js'
import {fileKind, modelKind} from './model-kind.js'
import {age} from './orch-text.js'
import {megabytes} from './progress.js'
import {formatTable, type TableView, wide, wrapped} from './table.js'

type Row = ListV1['models'][number]

/** The models of a workspace and of a cache. @param root of the workspace */
export async function listModels(root: string, cacheFolder: string): Promise<Row[]> {
  const {listCachedModels} = await import('../weights/index.js')
  const {findWorkspaceModels} = await import('../llm/index.js')
  const cached = (await listCachedModels(cacheFolder)).map(async ({name, commit, file, path, bytes, modifiedMs}) => {
    const kind = commit === undefined ? 'partial' : file === undefined ? await modelKind(path) : fileKind(file)
    return {name, kind, bytes, modified_at_ms: modifiedMs, commit: commit ?? null, path} satisfies Row
  })
  const local = (await findWorkspaceModels(root, cwd())).map(async (name) => {
    const path = resolve(cwd(), name)
    return {name, kind: 'language', ...(await sizeOf(path)), commit: null, path} satisfies Row
  })
  return Promise.all([...local, ...cached])
}

/** Size of the files in a directory, or of a GGUF model, and the time of the last change. */
async function sizeOf(place: string): Promise<Pick<Row, 'bytes' | 'modified_at_ms'>> {
  const {ggufParts} = await import('../weights/index.js')
  const paths = (await isFolder(place)) ? (await readdir(place)).map((name) => join(place, name)) : ggufParts(place)
  // A link can be dangling.
  const found = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)))
  const files = found.filter((each) => each !== undefined).filter((each) => each.isFile())
  return {
    bytes: files.reduce((sum, {size}) => sum + size, 0),
    modified_at_ms: Math.round(Math.max(0, ...files.map(({mtimeMs}) => mtimeMs))),
  }
}

const noModels = 'No models. Download one, as in `svc pull Qwen/Qwen2.5-0.5B-Instruct` or `svc pull tiny.en`.'

/** A table of models. */
export function formatModels(models: readonly Row[], view: TableView): string {
  const rows = models.map(({name, kind, bytes, modified_at_ms: modified, commit, path}) => [
    name,
    `${megabytes(bytes)} MB`,
    kind,
    age(modified),
    new Date(modified).toISOString(),
    commit ?? '-',
    path,
  ])
  const columns = ['NAME', 'SIZE', 'KIND', 'AGE', wide('MODIFIED'), wide('COMMIT'), wide(wrapped('PATH'))]
  return formatTable(columns, rows, view, noModels)
}
