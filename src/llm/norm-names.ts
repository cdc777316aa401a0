/** Names of the RMS norms of what enters a part of a layer, and of what leaves it. */
export interface NormNames {
  norm: string | undefined
  postNorm: string | undefined
}
