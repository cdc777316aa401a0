import {readdirSync, type Stats, statSync} from 'node:fs'
import {join, resolve} from 'node:path'
import {cwd} from 'node:process'
import type {ListV1} from '../contracts/index.js'
import {readEach} from '../files/index.js'
import {age} from './cell-text.js'
import {fileKind, modelKind} from './model-kind.js'
import {megabytes} from './progress.js'
import {formatTable, type TableView, wide, wrapped} from './table.js'

type Row = ListV1['models'][number]

/** The models of a workspace and of a cache. @param root of the workspace */
export async function listModels(root: string, cacheFolder: string): Promise<Row[]> {
  const {ggufParts, listCachedModels} = await import('../weights/index.js')
  const {findWorkspaceModels} = await import('../llm/index.js')
  const found = await listCachedModels(cacheFolder)
  const cached = await readEach(found, async ({name, commit, file, path, bytes, modifiedMs}) => {
    const kind = commit === undefined ? 'partial' : file === undefined ? await modelKind(path) : fileKind(file)
    return {name, kind, bytes, modified_at_ms: modifiedMs, commit: commit ?? null, path} satisfies Row
  })
  const local = (await findWorkspaceModels(root, cwd())).map((name) => {
    const path = resolve(cwd(), name)
    return {name, kind: 'language', ...sizeOf(path, ggufParts), commit: null, path} satisfies Row
  })
  return [...local, ...cached]
}

/** The models of Ollama. @param folder of its store */
export async function listOllama(folder: string): Promise<Row[]> {
  const {listOllamaModels} = await import('../weights/index.js')
  const models = await listOllamaModels(folder)
  return models.map(({model: name, path, bytes, modifiedMs: modified_at_ms}) => ({
    name,
    kind: 'language',
    bytes,
    modified_at_ms,
    commit: null,
    path,
  }))
}

/** Size of the files in a directory, or of a GGUF model, and the time of the last change. Faster than with promises. */
function sizeOf(place: string, ggufParts: (file: string) => string[]): Pick<Row, 'bytes' | 'modified_at_ms'> {
  const isFolder = statsOf(place)?.isDirectory() ?? false
  const paths = isFolder ? readdirSync(place).map((name) => join(place, name)) : ggufParts(place)
  const found = paths.map(statsOf)
  const files = found.filter((each) => each !== undefined).filter((each) => each.isFile())
  return {
    bytes: files.reduce((sum, {size}) => sum + size, 0),
    modified_at_ms: Math.round(Math.max(0, ...files.map(({mtimeMs}) => mtimeMs))),
  }
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    // A link can be dangling.
    return undefined
  }
}

const noModels = 'No models. Download one, as in `svc pull Qwen/Qwen2.5-0.5B-Instruct` or `svc pull tiny.en`.'

/** A table of models. @param none printed if there are none */
export function formatModels(models: readonly Row[], view: TableView, none = noModels): string {
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
  return formatTable(columns, rows, view, none)
}
