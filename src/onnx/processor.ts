import {readFileSync} from 'node:fs'
import {totalmem} from 'node:os'

/** Instructions that add products of bytes to 32-bit sums: AVX-VNNI, AVX-512-VNNI, AMX, and those of 64-bit ARM. */
const byteProducts = /\b(avx_vnni|avx512_vnni|amx_int8|asimddp|i8mm)\b/

/**
 * Largest weight of int8 products. Without instructions for byte products, x64 processors add two products of unsigned
 * and signed bytes in 16 bits, which saturate beyond 7 bits.
 */
export const largestWeight = (): number => (process.arch === 'x64' && !hasByteProducts() ? 63 : 127)

/** Whether the processor multiplies bytes faster than floats. False if it is unknown; true on Macs with Apple processors. */
export function hasByteProducts(): boolean {
  if (process.platform === 'darwin') return process.arch === 'arm64'
  try {
    return byteProducts.test(readFileSync('/proc/cpuinfo', 'latin1'))
  } catch {
    return false
  }
}

/**
 * Memory for models, bytes. Systems other than Linux report only pages that nothing uses, far fewer than a program can
 * get, so all memory counts there.
 */
export const obtainableMemory = (): number => (process.platform === 'linux' ? process.availableMemory() : totalmem())
