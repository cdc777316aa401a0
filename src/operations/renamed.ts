/** Members of an input under other names; members that are undefined are omitted. */
export type Renamed<I, N extends Readonly<Record<string, keyof I>>> = {
  [K in keyof N as undefined extends I[N[K]] ? never : K]: I[N[K]]
} & {[K in keyof N as undefined extends I[N[K]] ? K : never]?: Exclude<I[N[K]], undefined>}

/** Renames members of an input to domain names: `renamed(input, {receiver: 'receiver_id'})`. */
export const renamed = <I extends object, const N extends Readonly<Record<string, keyof I>>>(
  input: I,
  names: N,
): Renamed<I, N> =>
  Object.fromEntries(
    Object.entries(names).flatMap(([name, member]) => (input[member] === undefined ? [] : [[name, input[member]]])),
  ) as Renamed<I, N>
