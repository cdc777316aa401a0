import {createHash} from 'node:crypto'
import {linesOf} from '../../files/index.js'
import {allTables, type ExportedRow, faultOf, invalidExport} from './export-tables.js'

const header = {format: 'svc-mesh-export', version: 1}

/** Number of rows by table. */
export type RowCounts = Record<string, number>

/** Row with its line, for errors. */
export interface ReadRow extends ExportedRow {
  line: number
}

/** Maximum length of a line, bytes: a file or message of 8 MiB in JSON. */
const maxLine = 64 << 20

export const noRows = (): RowCounts => Object.fromEntries(Object.keys(allTables).map((table) => [table, 0]))

/**
 * Writes an export as lines of JSON: a header, the rows, and a footer. The footer has the number of rows and the
 * SHA-256 of all lines before it, so that a truncated or changed file is detected.
 * @param counts counted here
 */
export async function* writeExport(rows: AsyncIterable<ExportedRow>, counts: RowCounts): AsyncGenerator<string> {
  const hash = createHash('sha256')
  const line = (value: object) => {
    const text = `${JSON.stringify(value)}\n`
    hash.update(text)
    return text
  }
  yield line(header)
  for await (const row of rows) {
    counts[row.table] = (counts[row.table] ?? 0) + 1
    yield line(row)
  }
  yield `${JSON.stringify({rows: counts, sha256: hash.digest('hex')})}\n`
}

/**
 * Reads the rows of an export. All of them must be discarded if this throws.
 * @param path name of the input, for errors
 * @param counts counted here
 * @throws mesh_export_invalid
 */
export async function* readExport(
  chunks: AsyncIterable<Buffer>,
  path: string,
  counts: RowCounts,
): AsyncGenerator<ReadRow> {
  const hash = createHash('sha256')
  let number = 0
  let isComplete = false
  const invalid = (fault: string) => invalidExport(path, `line ${number}`, fault)
  for await (const line of linesOf(chunks, maxLine)) {
    number += 1
    if (isComplete) throw invalid('it follows the last line')
    if (line.length > maxLine) throw invalid('it is too long')
    const value = parse(line)
    if (number === 1) {
      if (value?.format !== header.format) throw invalid('the file is not an export of svc mesh export')
      if (value.version !== header.version) throw invalid(`version ${value.version} is not supported`)
    } else if (value !== undefined && 'sha256' in value) {
      if (value.sha256 !== hash.digest('hex') || JSON.stringify(value.rows) !== JSON.stringify(counts))
        throw invalid('the file was changed or is incomplete')
      isComplete = true
      continue
    } else {
      const row = value as ExportedRow | undefined
      const fault = row === undefined ? 'it is not a JSON object' : faultOf(row)
      if (row === undefined || fault !== undefined) throw invalid(fault ?? '')
      counts[row.table] = (counts[row.table] ?? 0) + 1
      yield {...row, line: number}
    }
    hash.update(line).update('\n')
  }
  if (!isComplete) throw invalid('the file ends before its last line')
}

function parse(line: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line.toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
