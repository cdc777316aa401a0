import {executionAsyncResource} from 'node:async_hooks'
import {useCompileCache} from './compile-cache.js'

/** A callback object of `process.nextTick`, see `keepTickObject`. */
let tickObject: object | undefined

/**
 * Keeps one object of `process.nextTick` alive. On Node 20, a full garbage collection without one frees their hidden class,
 * and V8 then creates each of them slowly until the process ends. That is a tenth of the time of an HTTP request.
 */
const keepTickObject = () => process.nextTick(() => (tickObject ??= executionAsyncResource()))

/** Entry point of the executable. Imports `main` late, so that it is loaded through the compile cache. */
export async function start(argv: readonly string[]): Promise<void> {
  useCompileCache()
  keepTickObject()
  const [first, ...words] = argv
  if (first === '__complete') return (await import('./completion/complete.js')).complete(words)
  const {main} = await import('./main.js')
  await main(argv)
}
