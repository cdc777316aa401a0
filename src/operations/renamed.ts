/** What of an input is given, under other names; what is not given is not there. */
export type Renamed<I, N extends Readonly<Record<string, keyof I>>> = {
  [K in keyof N as undefined extends I[N[K]] ? never : K]: I[N[K]]
} & {[K in keyof N as undefined extends I[N[K]] ? K : never]?: Exclude<I[N[K]], undefined>}

/** Members of an input under the names of the domain: `renamed(input, {receiver: 'receiver_id'})`. */
export const renamed = <I extends object, const N extends Readonly<Record<string, keyof I>>>(
  input: I,
  names: N,
): Renamed<I, N> =>
  Object.fromEntries(
    Object.entries(names).flatMap(([name, member]) => (input[member] === undefined ? [] : [[name, input[member]]])),
  ) as Renamed<I, N>
