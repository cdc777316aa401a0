import {setFlagsFromString} from 'node:v8'
import {runInNewContext} from 'node:vm'

/**
 * Collects garbage, so that memory can be measured by what is still in use.
 * @param type `minor` collects only that of new objects
 */
export function collectGarbage(type: 'major' | 'minor' = 'major'): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: {type: string}) => void
  collect({type})
}
