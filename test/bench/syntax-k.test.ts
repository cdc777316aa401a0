import assert from 'node:assert/strict'
import {createHash} from 'node:crypto'
import {readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import * as zlib from 'node:zlib'
import {estimateSyntaxK, type SyntaxKRequest} from '../../src/bench/index.js'
import {contractViolations, type SyntaxKEvent} from '../../src/contracts/index.js'
import {randomSource} from '../../src/sampling/index.js'
import {projectFile} from '../support/project.js'

const program = readFileSync(projectFile('examples/todo.svc'))

const estimate = (source: Buffer, request: Partial<SyntaxKRequest> = {}): SyntaxKEvent =>
  estimateSyntaxK({source, fixtureId: 'todo', targetKind: 'source', version: '0.1.0', ...request})

function noise(length: number, seed: number): Buffer {
  const random = randomSource(seed)
  return Buffer.from(Array.from({length}, () => Math.floor(random() * 256)))
}

const hasZstd = 'zstdCompressSync' in zlib

describe('syntax-K', () => {
  it('is the smallest compressed size, and matches its contract', async () => {
    const event = estimate(program, {baseline: noise(100, 1), targetKind: 'svc'})
    assert.deepEqual(await contractViolations('eval/syntax-k-event', event), [])
    const [gzip] = event.compressor_results
    const bytes = zlib.gzipSync(program, {level: 9}).length
    assert.deepEqual(gzip, {
      name: 'gzip',
      profile: 'gzip:best',
      compressed_bytes: bytes,
      ratio: bytes / program.length,
    })
    assert.equal(event.k_est_bytes, Math.min(...event.compressor_results.map((result) => result.compressed_bytes)))
    assert.equal(event.raw_bytes, program.length)
    assert.equal(event.source_hash, createHash('sha3-256').update(program).digest('hex'))
    assert.deepEqual(event.toolchain_fingerprint, {
      compiler: 'svc 0.1.0',
      compressor_profiles: hasZstd ? ['gzip:best', 'zstd:level=19'] : ['gzip:best'],
      platform: `${process.platform}-${process.arch}`,
    })
  })

  it('lists only the compressors of this version of Node.js', () => {
    const names = estimate(program).compressor_results.map(({name}) => name)
    assert.deepEqual(names, hasZstd ? ['gzip', 'zstd'] : ['gzip'])
  })

  it('of an empty source is the size of an empty archive', async () => {
    const event = estimate(Buffer.alloc(0))
    assert.deepEqual(await contractViolations('eval/syntax-k-event', event), [])
    const [gzip] = event.compressor_results
    assert.deepEqual([event.raw_bytes, gzip?.ratio], [0, gzip?.compressed_bytes])
    assert.equal(event.source_hash, 'a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a')
  })

  it('is the same for the same source', () => {
    assert.deepEqual(estimate(program), estimate(Buffer.from(program)))
  })

  it('rejects unknown members and a missing compressor in its contract', async () => {
    const event = estimate(program)
    for (const wrong of [
      {...event, timestamp: 1},
      {...event, compressor_results: []},
      {...event, raw_bytes: -1},
    ])
      assert.notDeepEqual(await contractViolations('eval/syntax-k-event', wrong), [])
  })
})

describe('the distance from a baseline', () => {
  const distance = (source: Buffer, baseline: Buffer) => estimate(source, {baseline}).ncd_vs_baseline

  it('follows the formula with the lengths of both sources', () => {
    const [x, y] = [program, noise(300, 2)]
    const size = (data: Buffer) => zlib.gzipSync(data, {level: 9}).length
    const lengthOf = ({length}: Buffer) => Buffer.from([length & 255, length >> 8, 0, 0, 0, 0, 0, 0])
    const both = size(Buffer.concat([lengthOf(x), x, lengthOf(y), y]))
    const [cx, cy] = [size(x), size(y)]
    assert.deepEqual(distance(x, y)?.per_compressor[0], {
      name: 'gzip',
      value: (both - Math.min(cx, cy)) / Math.max(cx, cy),
    })
  })

  it('is near 0 for equal sources and near 1 for unrelated ones', () => {
    const equal = distance(noise(4000, 3), noise(4000, 3))
    const unrelated = distance(noise(4000, 3), noise(4000, 4))
    assert.ok(equal !== undefined && equal.median < 0.05, JSON.stringify(equal))
    assert.ok(unrelated !== undefined && unrelated.median > 0.95, JSON.stringify(unrelated))
  })

  it('is absent without a baseline', () => {
    assert.equal(estimate(program).ncd_vs_baseline, undefined)
  })
})

describe('the representability of a source', () => {
  const of = (text: string, targetKind = 'svc') =>
    estimate(Buffer.from(text), {targetKind}).support_metrics?.representability
  const accepted = {parse_ok: true, hir_ok: true, web_ir_validate_ok: true, emit_preview_ok: true}

  it('has the stages of the data language that accept a program', () => {
    assert.deepEqual(of(program.toString('utf8')), {...accepted, first_failing_stage: null})
  })

  it('names the first stage that fails', () => {
    const failed = {hir_ok: false, web_ir_validate_ok: false, emit_preview_ok: null}
    assert.deepEqual(of('fn ('), {parse_ok: false, ...failed, first_failing_stage: 'parse'})
    assert.deepEqual(of('fn one() to int { return "one" }'), {parse_ok: true, ...failed, first_failing_stage: 'hir'})
  })

  it('is absent for other kinds of sources', () => {
    assert.equal(of('fn (', 'ts'), undefined)
  })
})
