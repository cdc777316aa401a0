import {useCompileCache} from './compile-cache.js'

/** Entry point of the executable. Imports `main` late, so that it is loaded through the compile cache. */
export async function start(argv: readonly string[]): Promise<void> {
  useCompileCache()
  const [first, ...words] = argv
  if (first === '__complete') return (await import('./completion/complete.js')).complete(words)
  const {main} = await import('./main.js')
  await main(argv)
}
