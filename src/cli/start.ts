import {useCompileCache} from './compile-cache.js'

/** Starts the executable: what is loaded after the compile cache is on comes from there. */
export async function start(argv: readonly string[]): Promise<void> {
  useCompileCache()
  const {main} = await import('./main.js')
  await main(argv)
}
