import {createHash} from 'node:crypto'
import {createReadStream} from 'node:fs'
import {stat} from 'node:fs/promises'
import {basename, resolve} from 'node:path'
import type {CorpusMixReport, SpeechCorpusMixV1} from '../../contracts/index.js'
import {counted, SvcError} from '../../errors/index.js'
import {checkOutputs, linesOf, writeFileAtomic} from '../../files/index.js'
import {type Mix, type MixSource, readMix} from './mix-file.js'
import {digestOf, mixDigest, readReport, reportPathOf, requireComplete, type SourceResult} from './mix-report.js'
import {maxRowBytes, mixedRow} from './mixed-row.js'

export interface MixOptions {
  /** Mix file. */
  file: string
  /** Folder of relative paths in the mix file. */
  base: string
  /** Overrides the output of the mix file. */
  output: string | undefined
  /** Fail if a required source contributes no rows, or if the output would be empty. */
  strict: boolean
  /** Replace an existing output that no earlier run has written. */
  overwrite: boolean
  /** Mix again if nothing has changed. */
  force: boolean
  signal: AbortSignal
  onWarning: (text: string) => void
  onProgress: (detail: string) => void
}

/** Size of the pieces in which the output is written, characters. */
const pieceLength = 1 << 18

/**
 * Writes a training corpus from the sources of a mix file, one after the other, and a report next to it. A run that would
 * write the same output again is skipped. Sources are read line by line, so files can have any size.
 * @throws corpus_mix_incomplete, output_exists, output_is_input, file_unwritable; the errors of `readMix`, of reading and of writing
 */
export async function mixCorpus(options: MixOptions): Promise<SpeechCorpusMixV1> {
  const {file, base, strict, overwrite, force, signal} = options
  const mix = await readMix(file)
  const output = resolve(options.output ?? resolve(base, mix.output))
  const report = reportPathOf(output)
  const paths = mix.sources.map(({path}) => resolve(base, path))
  await requireRegular(output)
  const before = await readReport(output)
  const isOwn = before !== undefined && before.output_sha256 === (await digestOf(output, signal))
  const inputs = [file, ...paths]
  await checkOutputs([output], {overwrite: overwrite || isOwn, inputs})
  await checkOutputs([report], {overwrite: overwrite || before !== undefined, inputs})
  const digests: (string | null)[] = []
  for (const [i, path] of paths.entries())
    digests.push((mix.sources[i]?.weight ?? 0) > 0 ? await digestOf(path, signal) : null)
  if (isOwn && !force && isUnchanged(before, mix, digests)) {
    const {output_lines, sources} = before
    if (strict) requireComplete(sources, mix)
    return {state: 'unchanged', output, report, output_lines, sources}
  }
  const written = await writeMix(mix, {paths, digests, output, keep: !(overwrite || isOwn)}, options)
  await writeFileAtomic(report, `${JSON.stringify(written, null, 2)}\n`)
  const {output_lines, sources} = written
  return {state: 'mixed', output, report, output_lines, sources}
}

/** The report is written next to the output, so the output cannot be a device or a pipe. @throws file_unwritable */
async function requireRegular(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() === false) throw new SvcError('file_unwritable', {path, reason: 'it is not a regular file'})
}

const isUnchanged = (before: CorpusMixReport, mix: Mix, digests: readonly (string | null)[]): boolean =>
  before.config_sha256 === mixDigest(mix) && before.sources.every(({sha256}, i) => sha256 === digests[i])

interface Places {
  /** Absolute paths of the sources, and their SHA-256. */
  paths: readonly string[]
  digests: readonly (string | null)[]
  output: string
  /** Fail if the output exists. */
  keep: boolean
}

/** Writes the output; nothing changes if this fails. @returns the report */
async function writeMix(
  mix: Mix,
  {paths, digests, output, keep}: Places,
  options: MixOptions,
): Promise<CorpusMixReport> {
  const hash = createHash('sha256')
  const sources: SourceResult[] = []
  async function* content() {
    for (const [i, source] of mix.sources.entries()) {
      const result = resultWithoutRows(source, digests[i] ?? null)
      sources.push(result)
      for await (const text of piecesOf(sourceRows(source, String(paths[i]), {mix, result, options}))) {
        hash.update(text)
        options.onProgress(`${source.path}, ${counted(result.emitted_lines, 'row')}`)
        yield text
      }
      if (result.repeats > 0 && result.emitted_lines === 0)
        result.skipped_reason = result.input_lines === 0 ? 'empty_file' : 'no_lines_passed_filters'
    }
    options.signal.throwIfAborted()
    if (options.strict) requireComplete(sources, mix)
  }
  await writeFileAtomic(output, content(), {keep})
  const lines = sources.reduce((sum, source) => sum + source.emitted_lines, 0)
  for (const source of sources) source.share_of_output = lines === 0 ? 0 : source.emitted_lines / lines
  if (lines === 0) options.onWarning('The output is empty.')
  return {
    schema_version: '1',
    output: basename(output),
    config_sha256: mixDigest(mix),
    output_sha256: hash.digest('hex'),
    output_lines: lines,
    sources,
  }
}

function resultWithoutRows(source: MixSource, sha256: string | null): SourceResult {
  const {path, weight, recordFormat, sampleRate, isOptional} = source
  const missing = isOptional ? 'missing_file_optional' : 'missing_file'
  const reason = weight <= 0 ? 'weight_zero' : sha256 === null ? missing : undefined
  return {
    path,
    ...(recordFormat === undefined ? {} : {record_format: recordFormat}),
    sha256,
    weight,
    sample_rate: sampleRate,
    repeats: reason === undefined ? Math.ceil(weight) : 0,
    input_lines: 0,
    invalid_lines: 0,
    dropped_lines: 0,
    emitted_lines: 0,
    ...(reason === undefined ? {} : {skipped_reason: reason}),
    share_of_output: 0,
  }
}

interface SourceContext {
  mix: Mix
  /** The lines are counted here. */
  result: SourceResult
  options: MixOptions
}

/** The rows of a source as lines, all of them once per repetition. Warns about what is left out at the end of the first. */
async function* sourceRows(source: MixSource, path: string, {mix, result, options}: SourceContext) {
  const {signal, onWarning} = options
  if (result.skipped_reason === 'missing_file') onWarning(`${source.path} does not exist.`)
  for (let repeat = 0; repeat < result.repeats; repeat++) {
    const faults = faultCounter(source.path, onWarning)
    const droppedLanes = new Set<string>()
    for await (const {line, number} of rowLines(path, signal)) {
      const row = mixedRow(line, source.recordFormat)
      if (repeat === 0) result.input_lines++
      if ('fault' in row) {
        if (repeat > 0) continue
        result.invalid_lines++
        faults.add(number, row.fault)
      } else if (!isIncluded(row.lane, mix)) {
        if (droppedLanes.size < maxNamed) droppedLanes.add(row.lane)
        if (repeat === 0) result.dropped_lines++
      } else if (isSampled(line, {number, repeat}, source.sampleRate)) {
        result.emitted_lines++
        yield `${row.text}\n`
      }
    }
    if (repeat > 0) continue
    faults.report()
    if (result.dropped_lines > 0 && result.dropped_lines + result.invalid_lines === result.input_lines)
      onWarning(allDropped(source.path, result.dropped_lines, [...droppedLanes], mix))
  }
}

/** Maximum number of lanes and of invalid lines that a warning names. */
const maxNamed = 5

const isIncluded = (lane: string, {includeLanes, excludeLanes}: Mix) =>
  includeLanes.includes(lane) && !excludeLanes.includes(lane)

function allDropped(path: string, count: number, lanes: readonly string[], {includeLanes, excludeLanes}: Mix): string {
  const excluded = lanes.every((lane) => excludeLanes.includes(lane))
  const reason = excluded
    ? `exclude_lanes has their ${lanes.length === 1 ? 'lane' : 'lanes'} ${lanes.join(', ')}`
    : `their lane is ${lanes.join(' or ')}, and include_lanes has only ${includeLanes.join(', ')}`
  return `${path}: no row is written (${count} dropped), because ${reason}.`
}

/** Counts the invalid lines of a source by reason, and warns about the first ones. */
function faultCounter(path: string, onWarning: (text: string) => void) {
  const counts = new Map<string, number>()
  let total = 0
  return {
    add(line: number, fault: string) {
      counts.set(fault, (counts.get(fault) ?? 0) + 1)
      total++
      if (total <= maxNamed) onWarning(`${path}, line ${line}, is skipped: ${fault}.`)
    },
    /** Warns about all of them, if there are more than were named. */
    report() {
      if (total <= maxNamed) return
      const reasons = [...counts].map(([fault, count]) => `${fault} (${count})`)
      onWarning(`${path}: ${counted(total, 'line is', 'lines are')} skipped: ${reasons.join(', ')}.`)
    },
  }
}

/** The lines of a file that are not blank, with their numbers from 1. */
async function* rowLines(path: string, signal: AbortSignal) {
  const chunks = createReadStream(path, {signal, highWaterMark: 1 << 20})
  let number = 0
  try {
    for await (const bytes of linesOf(chunks, maxRowBytes)) {
      number++
      const line = number === 1 && bytes.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes
      if (line.some((byte) => !blanks.has(byte))) yield {line, number}
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : SvcError.from(error)
  } finally {
    chunks.destroy()
  }
}

const byteOrderMark = Buffer.from('\uFEFF')
const blanks = new Set(Buffer.from(' \t\r'))

/** True if a row belongs to the sample. Depends only on its text, its line number and the repetition. */
function isSampled(line: Buffer, {number, repeat}: {number: number; repeat: number}, rate: number): boolean {
  if (rate >= 1) return true
  const hash = createHash('sha256').update(`${repeat}:${number}:`).update(line).digest()
  return hash.readUInt32BE() / 2 ** 32 < rate
}

/** Joins texts to pieces that are efficient to write. */
async function* piecesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = ''
  for await (const text of texts) {
    piece += text
    if (piece.length < pieceLength) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}
