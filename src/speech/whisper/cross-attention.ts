import type {Tensor} from '../../onnx/index.js'
import type {CrossAttention} from './network.js'

/** Decoder heads as `[layer, head]`. */
type Heads = readonly (readonly [layer: number, head: number])[]

/** Cross-attention of the given heads, from the outputs `PREFIX.LAYER`, `[..., heads, tokens, positions]`, of a run. */
export async function attentionOf(
  prefix: string,
  heads: Heads,
  {tokens, positions}: {tokens: number; positions: number},
  run: (fetches: Record<string, null>) => Promise<Readonly<Record<string, Tensor>>>,
): Promise<CrossAttention> {
  const outputs = await run(Object.fromEntries(heads.map(([layer]) => [`${prefix}.${layer}`, null])))
  const size = tokens * positions
  const weights = new Float32Array(heads.length * size)
  for (const [i, [layer, head]] of heads.entries()) {
    const all = (outputs[`${prefix}.${layer}`] as Tensor).data as Float32Array
    weights.set(all.subarray(head * size, (head + 1) * size), i * size)
  }
  return {heads: heads.length, tokens, positions, weights}
}
