import {setFlagsFromString} from 'node:v8'
import {runInNewContext} from 'node:vm'

/** Collects all garbage, so that memory can be measured by what is still in use. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}
