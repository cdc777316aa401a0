import {existsSync} from 'node:fs'
import {join} from 'node:path'

export interface ExportFiles {
  encoder: string
  /** Processes the prompt. */
  decoder: string
  /** Continues from a cache; the same file as `decoder` if both are merged. */
  decoderWithPast: string
  precision: 'f32' | 'int8'
}

/** File name suffixes by precision, in order of preference; 16-bit floats are not supported, 4 bits lose too much. */
const endings = {f32: ['', '_int8', '_quantized'], int8: ['_int8', '_quantized', '']} as const

/**
 * The graphs of an ONNX export in the layout of Optimum, in `onnx/` or in the folder itself; undefined if there are none.
 */
export function findExport(folder: string, precision: 'auto' | 'f32' | 'int8'): ExportFiles | undefined {
  const find = (name: string, ending: string) =>
    [join(folder, 'onnx', `${name}${ending}.onnx`), join(folder, `${name}${ending}.onnx`)].find(existsSync)
  for (const ending of endings[precision === 'int8' ? 'int8' : 'f32']) {
    const encoder = find('encoder_model', ending)
    const merged = find('decoder_model_merged', ending)
    const [first, next] = [find('decoder_model', ending), find('decoder_with_past_model', ending)]
    const kind = ending === '' ? 'f32' : 'int8'
    if (encoder === undefined) continue
    if (merged !== undefined) return {encoder, decoder: merged, decoderWithPast: merged, precision: kind}
    if (first !== undefined && next !== undefined)
      return {encoder, decoder: first, decoderWithPast: next, precision: kind}
  }
  return undefined
}
