import {createHash} from 'node:crypto'
import {createReadStream} from 'node:fs'
import {readFile, stat} from 'node:fs/promises'
import {basename, dirname, extname, join} from 'node:path'
import {type CorpusMixReport, contractViolations, type SpeechCorpusMixV1} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import type {Mix} from './mix-file.js'

export type SourceResult = SpeechCorpusMixV1['sources'][number]

/** `data/train.jsonl`: `data/train.mix_report.json` */
export const reportPathOf = (output: string): string =>
  join(dirname(output), `${basename(output, extname(output))}.mix_report.json`)

/** Reads the report of an output; undefined if there is none, or if the file is something else. */
export async function readReport(output: string): Promise<CorpusMixReport | undefined> {
  try {
    const report: unknown = JSON.parse(await readFile(reportPathOf(output), 'utf8'))
    if ((await contractViolations('speech/corpus-mix-report.v1', report)).length > 0) return undefined
    const ours = report as CorpusMixReport
    return ours.output === basename(output) ? ours : undefined
  } catch {
    return undefined
  }
}

/**
 * SHA-256 of a regular file; null if it does not exist.
 * @throws file_unreadable; the reason of the signal
 */
export async function digestOf(path: string, signal: AbortSignal): Promise<string | null> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw SvcError.from(error)
  })
  if (found === undefined) return null
  if (!found.isFile()) throw new SvcError('file_unreadable', {path, reason: 'it is not a regular file'})
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(path, {signal, highWaterMark: 1 << 20})) hash.update(chunk)
  } catch (error) {
    throw signal.aborted ? signal.reason : SvcError.from(error)
  }
  return hash.digest('hex')
}

/** SHA-256 of a mix with its defaults. */
export const mixDigest = (mix: Mix): string => createHash('sha256').update(JSON.stringify(mix)).digest('hex')

/**
 * Checks the result of a strict mix: it has rows, and each source that is not optional has contributed some.
 * @throws corpus_mix_incomplete
 */
export function requireComplete(sources: readonly SourceResult[], mix: Mix): void {
  const problems = sources.flatMap(({path, skipped_reason: reason}, i) =>
    reason === undefined || reason === 'weight_zero' || mix.sources[i]?.isOptional
      ? []
      : [`${path} ${problemTexts[reason]}`],
  )
  if (problems.length === 0 && sources.every(({emitted_lines: lines}) => lines === 0))
    problems.push('the output is empty')
  if (problems.length > 0) throw new SvcError('corpus_mix_incomplete', {problems})
}

const problemTexts = {
  missing_file: 'is missing',
  missing_file_optional: 'is missing',
  empty_file: 'is empty',
  no_lines_passed_filters: 'has no rows to write',
} as const
