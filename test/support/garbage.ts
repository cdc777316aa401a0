import {setFlagsFromString} from 'node:v8'
import {runInNewContext} from 'node:vm'

/**
 * Collects garbage, so that memory can be measured by what is still in use.
 * @param only `minor` collects only that of new objects
 */
export function collectGarbage(only?: 'minor'): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options?: {type: string}) => void
  if (only === undefined) collect()
  else collect({type: only})
}
