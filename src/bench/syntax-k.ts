import {createHash} from 'node:crypto'
import * as zlib from 'node:zlib'
import type {SyntaxKEvent} from '../contracts/index.js'
import {appContract, checkProgram, clientFile} from '../lang/index.js'
import {median} from './measure.js'

export interface SyntaxKRequest {
  source: Buffer
  fixtureId: string
  /** `svc` for programs of the data language, which are also checked. */
  targetKind: string
  /** Another source to compare with. */
  baseline?: Buffer | undefined
  /** Version of this program. */
  version: string
}

type CompressorName = SyntaxKEvent['compressor_results'][number]['name']

interface Compressor {
  name: CompressorName
  profile: string
  compress(data: Buffer): Buffer
}

/** Members of `node:zlib` that only some supported versions have: since 22.15 and 23.8. */
interface Zstd {
  zstdCompressSync?: (data: Buffer, options: {params: Record<number, number>}) => Buffer
  constants: {ZSTD_c_compressionLevel?: number}
}

const {zstdCompressSync, constants} = zlib as unknown as Zstd
const {ZSTD_c_compressionLevel: zstdLevel} = constants

/** The compressors of this version of Node.js. */
const compressors: readonly Compressor[] = [
  {name: 'gzip', profile: 'gzip:best', compress: (data) => zlib.gzipSync(data, {level: 9})},
  ...(zstdCompressSync === undefined || zstdLevel === undefined
    ? []
    : [
        {
          name: 'zstd' as const,
          profile: 'zstd:level=19',
          compress: (data: Buffer) => zstdCompressSync(data, {params: {[zstdLevel]: 19}}),
        },
      ]),
]

/** Estimates the information in a source as its smallest compressed size, an upper bound of its Kolmogorov complexity. */
export function estimateSyntaxK({source, fixtureId, targetKind, baseline, version}: SyntaxKRequest): SyntaxKEvent {
  const results = compressors.map(({name, profile, compress}) => {
    const bytes = compress(source).length
    return {name, profile, compressed_bytes: bytes, ratio: bytes / Math.max(source.length, 1)}
  })
  return {
    schema_version: 1,
    fixture_id: fixtureId,
    target_kind: targetKind,
    source_hash: createHash('sha3-256').update(source).digest('hex'),
    raw_bytes: source.length,
    compressor_results: results,
    k_est_bytes: Math.min(...results.map(({compressed_bytes: bytes}) => bytes)),
    ...(baseline === undefined ? {} : {ncd_vs_baseline: distances(source, baseline)}),
    ...(targetKind === 'svc' ? {support_metrics: {representability: representability(source.toString('utf8'))}} : {}),
    toolchain_fingerprint: {
      compiler: `svc ${version}`,
      compressor_profiles: compressors.map(({profile}) => profile),
      platform: `${process.platform}-${process.arch}`,
    },
  }
}

/** Normalised compression distance: near 0 for equal sources, near 1 for unrelated ones. */
function distances(x: Buffer, y: Buffer) {
  const both = Buffer.concat([lengthOf(x), x, lengthOf(y), y])
  const distanceOf = ({name, compress}: Compressor) => {
    const [cx, cy, cxy] = [x, y, both].map((data) => compress(data).length) as [number, number, number]
    return {name, value: (cxy - Math.min(cx, cy)) / Math.max(cx, cy)}
  }
  const all = compressors.map(distanceOf)
  return {per_compressor: all, median: median(all.map(({value}) => value))}
}

/** The length as 8 bytes, little-endian. */
function lengthOf({length}: Buffer): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(length))
  return bytes
}

/** Which stages of the data language accept a program. The client is generated only if the earlier stages succeed. */
function representability(text: string) {
  const program = checkProgram(text)
  const isParsed = !program.diagnostics.some(({code, severity}) => severity === 'error' && code.startsWith('parse.'))
  const hasContract = !program.hasErrors && succeeds(() => appContract(program))
  const hasClient = hasContract ? succeeds(() => clientFile(program)) : null
  const stages = {
    parse_ok: isParsed,
    hir_ok: !program.hasErrors,
    web_ir_validate_ok: hasContract,
    emit_preview_ok: hasClient,
  }
  const failing = Object.entries(stages).find(([, ok]) => ok === false)?.[0]
  return {...stages, first_failing_stage: failing?.replace(/_ok$/, '') ?? null}
}

function succeeds(run: () => unknown): boolean {
  try {
    run()
    return true
  } catch {
    return false
  }
}
