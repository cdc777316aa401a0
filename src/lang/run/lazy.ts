/** Creates a value on first use, because types can be recursive. */
export function lazy<R>(make: () => R): () => R {
  let made: R | undefined
  return () => {
    made ??= make()
    return made
  }
}
