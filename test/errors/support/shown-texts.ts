import {readdir, readFile} from 'node:fs/promises'
import {projectFile} from '../../support/project.js'

/** A source that names commands to its users, apart from help and documentation. */
interface ShownText {
  path: string
  /** Commands that readers can paste, with VALUE for each value. */
  commands: readonly string[]
  /** The source without these and without comments and help. */
  prose: string
}

const comment = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm
const help =
  /static override (?:description|summary|examples) =[\s\S]*?\n(?= {2}(?:static|async|protected|#|\w+\()|\})/g
const described =
  /\b(?:doc|summary|description|measures|primary_operation_id|application_name):\s*(?:`[^`]*`|'[^']*'|"[^"]*")/g
const marked = /command(?:Line)?`([^`]*)`|\\`([^`\\]*)\\`|`(svc [^`$\n]*)`/g

/** The sources outside the catalogue of errors that name commands. */
export async function shownTexts(): Promise<ShownText[]> {
  const texts = await Promise.all(
    ['src', 'commands'].map(async (folder) => {
      const names = (await readdir(projectFile(folder), {recursive: true})).filter((name) => name.endsWith('.ts'))
      return Promise.all(names.map((name) => readText(`${folder}/${name}`)))
    }),
  )
  return texts.flat().filter(({path, commands, prose}) => {
    return !path.startsWith('src/errors/') && (commands.length > 0 || /\bsvc [a-z]/.test(prose))
  })
}

async function readText(path: string): Promise<ShownText> {
  const source = await readFile(projectFile(path), 'utf8')
  const text = [comment, help, described].reduce((rest, pattern) => rest.replaceAll(pattern, ''), source)
  const commands = [...text.matchAll(marked)]
    .map(([, tagged, escaped, quoted]) => (tagged ?? escaped ?? quoted ?? '').replaceAll(/\$\{[^}]*\}/g, 'VALUE'))
    .filter((line) => /\bsvc /.test(line))
  return {path, commands, prose: text.replaceAll(marked, '')}
}

/** Names of commands in texts that do not ask the reader to run them. */
export const mentions: Readonly<Record<string, readonly string[]>> = {
  // Places of passages.
  'src/help/passages.ts': ['svc explain', 'svc explain', 'svc explain'],
  'src/cli/completion/scripts.ts': ['svc completion', 'svc completion', 'svc completion'],
  'src/lang/emit/functions-prelude.ts': ['svc db'],
  'src/lang/emit/functions.ts': ['svc db'],
  'src/lang/emit/typescript.ts': ['svc db'],
  'src/mcp/instructions.ts': ['svc daemon'],
  'src/mesh/secrets/secretbox.ts': ['svc mesh'],
  'src/mesh/store/export-file.ts': ['svc mesh'],
  'src/operations/rows/benchmarks.ts': ['svc bench'],
}
